// What a stage's main does.
#pragma once
#include "common/app/guarded.h"
#include "common/train/language.h"

namespace babygpt {

// Reads the command line, then trains (from stage 02 on with train_objective) or samples. Returns the exit code.
using Train = std::function<void(const Options&)>;
int run_stage(int argc, char** argv, const Options& defaults, const MakeModel& make_model, const Train& train = {});
template <class Model>
int run_stage(int argc, char** argv, const Options& defaults, const Train& train = {}) {
    auto make = [](const Options& o, int vocab_size, Rng& rng) { return std::make_unique<Model>(o, vocab_size, rng); };
    return run_stage(argc, argv, defaults, make, train);
}

}  // namespace babygpt
