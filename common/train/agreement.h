// What all ranks of a run must have in common; where one differs, it is refused and the difference named.
#pragma once
#include "common/base/options.h"
#include "common/nn/nn.h"

namespace babygpt {

void agree_on_program(const Options& options);  // the program, and every option
void agree_on_text(const Options& options, const std::string& hash);
void agree_on_weights(const Module& model, int step);

}  // namespace babygpt
