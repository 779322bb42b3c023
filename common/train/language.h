// Language modelling, the objective of Part I: guess the next character; in the end, write.
#pragma once
#include "common/text/baselines.h"
#include "common/text/batches.h"
#include "common/train/training_run.h"
#include "common/write/sampler.h"

namespace babygpt {

using MakeModel = std::function<std::unique_ptr<LanguageModel>(const Options&, int vocab_size, Rng&)>;
using MakeWriter = std::function<NextLogits(const LanguageModel&, int block_size)>;  // how a model of this kind writes

class TextBatch : public DrawnBatch {
  public:
    explicit TextBatch(Batch b)
        : batch(std::move(b)) {}
    int rows() const override { return batch.x.B; }
    size_t tokens() const override { return batch.x.ids.size(); }
    Tensor loss(const Module& model, int first, int last) const override;

  private:
    Batch batch;
};

class LanguageModelling : public Objective {
  public:
    LanguageModelling(const Options& options, const Corpus& corpus, MakeModel make = {},
                      MakeWriter make_writer = next_logits);

    std::shared_ptr<Module> make_model(Rng& initialisation) const override;
    std::unique_ptr<DrawnBatch> draw(Part part, Rng& rng) const override;
    Checkpoint describe(const Module& model, int step, Losses losses) const override;
    std::string introduce() const override;
    std::string remark(double loss, const Module*) const override { return baselines.describe(loss); }
    std::string in_words(double loss) const override;
    // Writes a sample, and tales for the judge where the corpus has one.
    void show(const Module& model, const Tell& tell) const override;
    void show(const NextLogits& next, const Tell& tell) const;

    const Baselines baselines;

  private:
    const Options& options;
    const Corpus& corpus;
    MakeModel make;
    MakeWriter make_writer;
};

// A run as the first stages have it in the open, where a model need not be one with parameters.
class Run : private LanguageModelling, public TrainingRun {
  public:
    Run(const Options& o, const Corpus& c, size_t parameter_count)
        : LanguageModelling(o, c),
          TrainingRun(o, *this, parameter_count),
          tokens(size_t(o.batch_size) * size_t(o.block_size)) {}

    void trained(int step, double loss) { TrainingRun::trained(step, loss, tokens); }
    using TrainingRun::finish;
    void finish(const NextLogits& next);
    using LanguageModelling::baselines;

  private:
    size_t tokens;  // of a step
};

// Loss on eval_batches random batches of each part of the corpus, always the same ones, without dropout.
Losses evaluate(const LanguageModel& model, const Corpus& corpus, const Options& options);

// Fails with a clear line if a text or a size cannot work, before anything is written.
void check_fit(const Options& options, const Corpus& corpus);

}  // namespace babygpt
