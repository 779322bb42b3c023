// Training, from a stage's model to a finished run.
#pragma once
#include <functional>

#include "common/base/thread_pool.h"
#include "common/nn/optim.h"
#include "common/text/batches.h"
#include "common/train/run.h"
#include "common/write/sampler.h"

namespace babygpt {

using MakeModel = std::function<std::unique_ptr<LanguageModel>(const Options&, int vocab_size, Rng&)>;

// Threads are data parallelism: each worker takes its share of the batch through a replica of the model that has the
// parameters' values in common and gradients of its own; then the gradients are added up and the optimiser steps.
class Trainer {
  public:
    Trainer(const Options& options, const Corpus& corpus, const MakeModel& make_model);

    double step();                    // one update on a random batch; returns its loss
    double step(const Batch& batch);  // one update on this one
    LanguageModel& model() { return *replicas[0]; }

    AdamW optimiser;
    Rng batches;

  private:
    double work(int worker, const Batch& batch);        // forward and backward on the worker's share; returns its loss
    double add_up_gradients(int part, size_t workers);  // of the first replicas; returns the sum of their squares

    const Options& options;
    const Corpus& corpus;
    ThreadPool pool;
    std::vector<std::unique_ptr<LanguageModel>> replicas;
    Schedule schedule;
};

// Loss on eval_batches random batches of each part of the corpus, always the same ones, without dropout.
Losses evaluate(const LanguageModel& model, const Corpus& corpus, const Options& options);

// Fails with a clear line if a text or a size cannot work, before anything is written.
void check_fit(const Options& options, const Corpus& corpus);

// The text a model was trained on, if it is still where it was.
std::optional<std::vector<int>> training_text(const SavedModel& saved);

// What main does: reads the command line, then trains (from stage 02 on with a Trainer) or samples. Returns the exit
// code.
using Train = std::function<void(const Options&)>;
int run_stage(int argc, char** argv, const Options& defaults, const MakeModel& make_model, const Train& train = {});
template <class Model>
int run_stage(int argc, char** argv, const Options& defaults, const Train& train = {}) {
    auto make = [](const Options& o, int vocab_size, Rng& rng) { return std::make_unique<Model>(o, vocab_size, rng); };
    return run_stage(argc, argv, defaults, make, train);
}

// Runs f and turns what it throws into one line on stderr and an exit code: 2 for what the user can mend, 1 for the
// rest.
int guarded(const std::string& name, const std::function<void()>& f);

}  // namespace babygpt
