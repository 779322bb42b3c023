// Texts have any length; chunks want a multiple of theirs. So what comes in is padded, and what comes out is cut again.
#pragma once
#include "common/nn/bert.h"

namespace babygpt {

std::unique_ptr<PreTrainingModel> whole_chunks(std::unique_ptr<PreTrainingModel> model, int chunk);

}  // namespace babygpt
