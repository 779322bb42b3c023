// The trained models of all stages, ready to be asked.
#pragma once
#include <list>
#include <memory>
#include <mutex>

#include "common/nn/bert.h"
#include "common/text/tokenizer.h"
#include "common/train/checkpoint.h"
#include "common/train/pretraining.h"

namespace babygpt::workshop {

// One of three kinds, as the stage that trained it has it.
struct Opened {
    Options options;
    CharacterTokenizer tokenizer;  // of the second and third; a model that writes has no special tokens
    int step = 0;
    std::unique_ptr<LanguageModel> writer = {};
    std::unique_ptr<PreTrainingModel> reader = {};
    std::unique_ptr<EncoderDecoder> translator = {};

    const Vocabulary& vocabulary() const { return tokenizer.characters; }
    const Module& module() const;
};

// Those that fill blanks, by stage: the BERTs.
const std::map<std::string, MakeBert>& readers();

Task task_of(const std::string& stage);  // fails if its models cannot be looked into
bool has_attention(const std::string& stage);

// Why a run cannot be looked into that was trained by another program than the stage: the weights do not say what it
// computes with them.
std::string changed(const std::string& program, const std::string& stage);

// The file with its number on the disk, its time and its size: one that was written anew has another.
std::string version_of(const std::string& file);

void refuse_pipe(const std::string& file);                       // it would wait
std::string read_at_most(const std::string& file, size_t most);  // fails if there is more
// The bytes of a model. They are read, not mapped: someone may write over the file in this moment.
std::string read_model(const std::string& file);
std::map<std::string, std::string> read_metadata(const std::string& file);  // and no more of it

// Loads a model once and keeps the last ones, as a slider goes to and fro among them.
class Models {
  public:
    std::shared_ptr<const Opened> open(const std::string& file);

  private:
    struct Kept {
        std::string version;
        size_t bytes;
        std::shared_ptr<const Opened> model;
    };
    std::mutex mutex;
    std::list<Kept> kept;  // the last used first
};

}  // namespace babygpt::workshop
