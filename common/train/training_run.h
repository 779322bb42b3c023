// A training run: its evaluations, the best of them, and its files. What --resume needs is in resume.cpp.
#pragma once
#include <chrono>

#include "common/nn/optim.h"
#include "common/train/objective.h"
#include "common/train/progress.h"
#include "common/train/run_directory.h"

namespace babygpt {

// An evaluation, and a line of metrics.csv.
struct Evaluation {
    int step;
    Losses losses;
    double tokens_per_second, seconds;
};
std::string metrics_csv(const std::vector<Evaluation>& rows);

class TrainingRun {
  public:
    // Says what is about to be trained; fails on what would be refused at the end. From here on Ctrl-C and other
    // signals that ask a program to stop end the run at the next step.
    TrainingRun(const Options& options, const Objective& objective, size_t parameters);

    // With --resume, restores what the run was when it was last saved; returns the step to go on with, otherwise 0.
    int resume(Module& model, AdamW& optimiser, Rng& batches);

    // An evaluation: before the first step, every eval_interval, at the end, and when interrupted, unless there are
    // several ranks, to which mpirun gives a second to end. Not a second time when a run is resumed.
    bool due(int step) const;
    bool ends(int step) const;  // all steps are done, or it was interrupted
    // Files and prints an evaluation; saves the model if it is the best so far. The first one makes the directory
    // ready: what fails before it leaves all as it was. The time since the last update does not count as training.
    void record(int step, Losses losses, const Module* model = nullptr);
    // After each update: counts tokens and time, keeps the live line moving, and stops at a loss that is no number.
    void trained(int step, double loss, size_t tokens);
    // All that resume() needs, every save_interval and at the end. If an interruption's evaluation was the best, that
    // is the earlier best model, too: an uninterrupted run would have kept it.
    void save(int step, const Module& model, const AdamW& optimiser, const Rng& batches);
    // The other ranks do not answer: saves, and fails.
    [[noreturn]] void lost(int step, const Module& model, const AdamW& optimiser, const Rng& batches);

    // Lets the best model show what it can do, writes samples.txt and run.json, and fails if not all could be printed.
    void finish(Module& model);

    int best_step = 0;
    Losses best{}, last{};

  protected:
    void conclude(const std::function<void(const Objective::Tell& tell)>& show);

  private:
    void begin();
    void check_loss(int step, double loss);
    std::string stopped() const;   // what is said of an interruption
    bool planned(int step) const;  // an evaluation that an uninterrupted run has too
    std::string describe(const Evaluation& row, const Module* model) const;
    void write_state(int step, const Module& model, const AdamW& optimiser, const Rng& batches);
    void write(const std::string& name, const std::string& bytes) const;  // on the first rank
    double seconds() const;  // since the run began, without the time between an end and a resumption

    const Options options;
    const Objective& objective;
    size_t parameters;
    std::vector<Evaluation> rows;
    Progress progress;
    DirectoryLock lock;
    bool begun = false, best_is_unplanned = false;
    int saved_step = 0;
    const char* stopped_by = nullptr;
    using Clock = std::chrono::steady_clock;
    Clock::time_point started = Clock::now(), mark = started;
    double training_seconds = 0, trained_tokens = 0;  // in all
    double recent_seconds = 0, recent_tokens = 0;     // since the last planned evaluation
};

}  // namespace babygpt
