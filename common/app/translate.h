// What the main of a stage that translates does.
#pragma once
#include "common/app/guarded.h"
#include "common/train/translation.h"

namespace babygpt {

// Reads the command line, then trains, or translates with a trained model. Returns the exit code.
int run_translate(int argc, char** argv, Options defaults, const MakeTranslator& make_model);

template <class Model>
int run_translate(int argc, char** argv, const Options& defaults) {
    return run_translate(argc, argv, defaults, maker<Model>());
}

}  // namespace babygpt
