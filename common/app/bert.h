// What the main of a BERT stage does.
#pragma once
#include "common/app/command_line.h"
#include "common/app/guarded.h"
#include "common/train/pretraining.h"
#include "common/write/fill.h"

namespace babygpt {

// Reads the command line, then trains, or asks a trained model. Returns the exit code.
int run_bert(int argc, char** argv, Options defaults, const MakeBert& make_model);

// A model with what is needed to ask it.
struct LoadedBert {
    std::unique_ptr<PreTrainingModel> model;
    std::unique_ptr<Tokenizer> tokenizer;
    int max_tokens;
};
// What Hugging Face saved may lack a part; the command has to do without it.
LoadedBert load_hugging_face(const std::string& directory, Command command, const MakeBert& make_model);

// Does what fill or follows asks for.
void answer(Command command, const Reader& reader, const Options& options);

template <class Model>
int run_bert(int argc, char** argv, const Options& defaults) {
    return run_bert(argc, argv, defaults, maker<Model>());
}

}  // namespace babygpt
