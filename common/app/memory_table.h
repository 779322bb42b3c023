// What the main of 16_memory does.
#pragma once
#include "common/app/bert.h"

namespace babygpt {

// Without a command, prints tables of what a step of training needs; with one, is run_bert. Returns the exit code.
int measure_memory(int argc, char** argv, Options defaults, const MakeBert& make_model);

template <class Model>
int measure_memory(int argc, char** argv, const Options& defaults) {
    return measure_memory(argc, argv, defaults, maker<Model>());
}

}  // namespace babygpt
