// BERT's two tasks, the objective of Part II: guess the characters that were taken out, and say whether the second
// sentence belongs to the first.
#pragma once
#include "common/train/guesses.h"
#include "common/train/training_run.h"

namespace babygpt {

using MakeBert = std::function<std::unique_ptr<PreTrainingModel>(const BertConfig&, Rng&)>;

std::unique_ptr<DrawnBatch> pairs_batch(MaskedPairs pairs);  // to be trained on: with the loss of both tasks

// What a loss means: knowing nothing, and knowing how frequent each character is in the sentences that stand in pairs.
struct PairBaselines {
    double uniform, unigram;
};
PairBaselines measure_baselines(const Sentences& text);

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

    // On unseen pairs: those of the validation loss, or of another stream.
    Guesses guesses(const Module& model, int batches, std::string_view stream = "evaluation of val") const;

  private:
    std::string cut_pairs() const;  // a line for introduce, where there are pairs that do not fit
    // Two sentences, with blanks in the second.
    std::vector<std::vector<int>> blanked(const Sentences::Pair& pair, Rng& rng) const;

    const Options& options;
    const Sentences& text;
    const PairBaselines baselines;
    MakeBert make;
};

}  // namespace babygpt
