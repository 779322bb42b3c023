// What a stage's main does.
#pragma once
#include "common/app/guarded.h"
#include "common/train/language.h"

namespace babygpt {

// Reads the command line, then trains (from stage 02 on with train_objective) or samples. Returns the exit code.
using Train = std::function<void(const Options&)>;
int run_stage(int argc, char** argv, const Options& defaults, const MakeModel& make_model, const Train& train = {},
              const MakeWriter& make_writer = next_logits);

// What a run needs before it is trained: with --resume, the options that it had; and as many threads as BLAS can take.
void prepare_training(int argc, char** argv, Options& options, const Options& stage);

template <class Model>
int run_stage(int argc, char** argv, const Options& defaults, const Train& train = {}) {
    return run_stage(argc, argv, defaults, maker<Model>(), train);
}

// The same for a model that writes in a way of its own.
template <class Model>
int run_stage(int argc, char** argv, const Options& defaults, NextLogits (*writer)(const Model&, int block_size)) {
    auto make_writer = [writer](const LanguageModel& model, int block_size) {
        return writer(static_cast<const Model&>(model), block_size);
    };
    return run_stage(argc, argv, defaults, maker<Model>(), {}, make_writer);
}

}  // namespace babygpt
