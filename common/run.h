// What a training run tells its user: a line for each evaluation beside the ruler, a live line on a terminal, and the files of the
// run's directory.
#pragma once
#include <chrono>
#include <memory>

#include "common/options.h"
#include "common/ruler.h"

namespace babygpt {

struct Losses {
    double train, val;  // nats per character
};

class Run {
  public:
    // Says what is about to be trained, and makes the directory ready.
    Run(const Options& options, const Corpus& corpus, size_t parameters);

    // Call after each update: counts its characters and time, keeps the live line moving, and stops at a loss that is not a number.
    void trained(int step, double loss);
    // Evaluation before the first step, every eval_interval, and at the end.
    bool due(int step) const;
    // Prints and files an evaluation; true if it is the best so far. The time since the last update is not counted as training.
    bool record(int step, Losses losses);
    // Ctrl-C was pressed: end after this step.
    bool stopped() const;

    // Writes samples.txt and run.json. `tales` is the sample that is judged where the corpus has a judge.
    void finish(const std::string& sample, const std::string& tales);

    const Ruler ruler;
    int best_step = 0;
    Losses best{}, last{};

  private:
    void show_live(int step, double loss);
    void clear_live();
    void write_metrics() const;

    struct Row {
        int step;
        Losses losses;
        double tokens_per_second, seconds;
    };
    const Options& options;
    const Corpus& corpus;
    size_t parameters;
    std::vector<Row> rows;
    bool terminal, live = false;
    using Clock = std::chrono::steady_clock;
    Clock::time_point started = Clock::now(), mark = started, shown = started;
    double training_seconds = 0, trained_tokens = 0;  // in all
    double recent_seconds = 0, recent_tokens = 0;     // since the last evaluation
};

}  // namespace babygpt
