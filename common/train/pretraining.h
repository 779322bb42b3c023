// BERT's two tasks, the objective of Part II: guess the characters that were taken out, and say whether the second
// sentence belongs to the first.
#pragma once
#include "common/nn/bert.h"
#include "common/text/sentences.h"
#include "common/train/run.h"

namespace babygpt {

using MakeBert = std::function<std::unique_ptr<PreTrainingModel>(const BertConfig&, Rng&)>;

// [CLS] a [SEP] b [SEP], one pair a row, padded to the longest.
struct MaskedPairs {
    Tokens input_ids, token_type_ids, labels;  // (B, T); labels are ignore_index but where a character was chosen
    Tokens next_sentence_label;                // (B, 1): 0 if b follows a, 1 if it comes from elsewhere
    std::vector<int> lengths;                  // without the padding
    int multiple = 1;                          // of which T is one
};
MaskedPairs draw_pairs(const Sentences& text, const std::vector<Sentences::Pair>& pairs, int B, int block_size,
                       Rng& rng, int multiple = 1);

struct Guesses {  // how many of how many were right
    size_t masked = 0, masked_right = 0, pairs = 0, pairs_right = 0;
    double masked_accuracy() const { return double(masked_right) / double(masked); }
    double follows_accuracy() const { return double(pairs_right) / double(pairs); }
};
Guesses guess(const PreTrainingModel& model, const MaskedPairs& batch);

// The options of a run as a BertConfig.
BertConfig bert_config(const Options& options, int vocab_size);

class PreTraining : public Objective {
  public:
    PreTraining(const Options& options, const Sentences& text, MakeBert make);

    std::shared_ptr<Module> make_model(Rng& initialisation) const override;
    std::unique_ptr<DrawnBatch> draw(Part part, Rng& rng) const override;
    Checkpoint describe(const Module& model, int step, Losses losses) const override;
    std::string introduce() const override;
    std::string remark(double loss, const Module* model) const override;
    void show(const Module& model, const Tell& tell) const override;

  private:
    MaskedPairs draw(const std::vector<Sentences::Pair>& pairs, Rng& rng) const;
    Guesses guesses(const Module& model, int batches) const;

    const Options& options;
    const Sentences& text;
    MakeBert make;
};

}  // namespace babygpt
