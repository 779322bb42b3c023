// The training loop: from an objective to a finished run.
#pragma once
#include "common/train/objective.h"

namespace babygpt {

void train_objective(const Options& options, const Objective& objective);

}  // namespace babygpt
