// What a training run tells its user: a line for each evaluation beside the ruler, a live line on a terminal, and the
// files of the run's directory.
#pragma once
#include <chrono>
#include <memory>

#include "common/text/baselines.h"
#include "common/train/checkpoint.h"
#include "common/write/sampler.h"

namespace babygpt {

struct Losses {
    double train, val;  // nats per character
};

class Run {
  public:
    // Says what is about to be trained. Fails on a prompt or a directory that would be refused at the end.
    Run(const Options& options, const Corpus& corpus, size_t parameters);

    // With --resume, restores what the run was when it was last saved; returns the step to go on with, otherwise 0.
    int resume(Module& model, AdamW& optimiser, Rng& batches);

    bool due(int step) const;   // an evaluation: before the first step, every eval_interval, and at the end
    bool ends(int step) const;  // all steps are done, or Ctrl-C was pressed
    // Prints and files an evaluation; saves the model if it is the best so far. The first one makes the directory
    // ready: what fails before it leaves all as it was. The time since the last update does not count as training.
    void record(int step, Losses losses, const Module* model = nullptr);
    // After each update: counts its characters and time, keeps the live line moving, and stops at a loss that is not a
    // number.
    void trained(int step, double loss);
    // All that resume() needs, every save_interval and at the end.
    void save(int step, const Module& model, const AdamW& optimiser, const Rng& batches);

    // Lets the best model write, judges its tales where the corpus has a judge, and writes samples.txt and run.json.
    void finish(LanguageModel& model);
    void finish(const NextLogits& next);

    const Baselines baselines;
    int best_step = 0;
    Losses best{}, last{};

  private:
    void begin();
    void check_loss(int step, double loss);
    void show_live(int step, double loss);
    void clear_live();
    void write_metrics() const;

    struct Row {
        int step;
        Losses losses;
        double tokens_per_second, seconds;
    };
    const Options options;
    const Corpus& corpus;
    size_t parameters;
    std::vector<Row> rows;
    bool terminal, begun = false, live = false, stopping = false;
    using Clock = std::chrono::steady_clock;
    Clock::time_point started = Clock::now(), mark = started, shown = started;
    double training_seconds = 0, trained_tokens = 0;  // in all
    double recent_seconds = 0, recent_tokens = 0;     // since the last evaluation
};

}  // namespace babygpt
