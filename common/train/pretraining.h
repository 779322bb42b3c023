// BERT's two tasks, the objective of Part II: guess the characters that were taken out, and say whether the second
// sentence belongs to the first.
#pragma once
#include <map>

#include "common/nn/bert.h"
#include "common/text/sentences.h"
#include "common/train/training_run.h"

namespace babygpt {

using MakeBert = std::function<std::unique_ptr<PreTrainingModel>(const BertConfig&, Rng&)>;

// [CLS] a [SEP] b [SEP], one pair a row, padded to the longest.
struct MaskedPairs {
    Tokens input_ids, token_type_ids, labels;  // (B, T); labels are ignore_index but where a character was chosen
    Tokens next_sentence_label;                // (B, 1): 0 if b follows a, 1 if it comes from elsewhere; alone: ignored
    std::vector<int> lengths;                  // without the padding
};
// Half of the pairs belong together. One row in eight is a sentence alone, of any kind, so that one can be filled too.
MaskedPairs draw_pairs(const Sentences& text, Part part, int B, int block_size, Rng& rng);
std::unique_ptr<DrawnBatch> pairs_batch(MaskedPairs pairs);

struct Guesses {  // how many of how many were right
    size_t masked = 0, masked_right = 0, pairs = 0, pairs_right = 0;
    double masked_accuracy() const { return share(masked_right, masked); }
    double follows_accuracy() const { return share(pairs_right, pairs); }
    static double share(size_t right, size_t all) { return all ? double(right) / double(all) : 0; }
};
Guesses guess(const PreTrainingModel& model, const MaskedPairs& batch);

// Names, things, places and so on of validation pairs that belong together, one character of each masked alone: by
// kind, how many there were and how many were guessed.
struct SlotGuesses {
    size_t slots = 0, right = 0;
};
std::map<std::string, SlotGuesses> guess_slots(const PreTrainingModel& model, const Sentences& text, size_t most_pairs,
                                               int block_size);

// What a loss means: knowing nothing, and knowing how frequent each character is.
struct PairBaselines {
    double uniform, unigram;
};
PairBaselines measure_baselines(const Sentences& text);

// The options of a run as a BertConfig.
BertConfig bert_config(const Options& options, int vocab_size);

class PreTraining : public Objective {
  public:
    PreTraining(const Options& options, const Sentences& text, MakeBert make);

    std::shared_ptr<Module> make_model(Rng& initialisation) const override;
    std::unique_ptr<DrawnBatch> draw(Part part, Rng& rng) const override;
    Checkpoint describe(const Module& model, int step, Losses losses) const override;
    std::vector<File> files() const override;
    std::string introduce() const override;
    std::string remark(double loss, const Module* model) const override;
    void show(const Module& model, const Tell& tell) const override;

    Guesses guesses(const Module& model, int batches) const;  // on unseen pairs

  private:
    // Two sentences as text, with blanks in the second.
    std::pair<std::string, std::string> blanked(const Sentences::Pair& pair, Rng& rng) const;

    const Options& options;
    const Sentences& text;
    const PairBaselines baselines;
    MakeBert make;
};

}  // namespace babygpt
