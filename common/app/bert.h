// What the main of a BERT stage does.
#pragma once
#include "common/app/guarded.h"
#include "common/train/pretraining.h"

namespace babygpt {

// Reads the command line, then trains, or asks a trained model. Returns the exit code.
int run_bert(int argc, char** argv, Options defaults, const MakeBert& make_model);

template <class Model>
int run_bert(int argc, char** argv, const Options& defaults) {
    return run_bert(argc, argv, defaults,
                    [](const BertConfig& c, Rng& rng) { return std::make_unique<Model>(c, rng); });
}

}  // namespace babygpt
