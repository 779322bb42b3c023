// What the main of a stage does that asks what the heads of a trained BERT are worth and cuts out those worth little.
#pragma once
#include "common/app/guarded.h"
#include "common/train/pretraining.h"

namespace babygpt {

// Reads the command line, then prunes a model of 13_bert or of this stage, trains one on, or asks it something.
// Returns the exit code. make_model makes a PrunableModel.
int run_prune(int argc, char** argv, Options defaults, const MakeBert& make_model);

template <class Model>
int run_prune(int argc, char** argv, const Options& defaults) {
    return run_prune(argc, argv, defaults, maker<Model>());
}

}  // namespace babygpt
