// Snapshots: what a model was at some of its evaluations, for the slider of the workshop.
#pragma once
#include "common/base/options.h"

namespace babygpt {

// Writes the bytes of a model if its evaluation is one of those that leave a snapshot: as many as --snapshots has room
// for, spread evenly. Which these are follows from the plan of steps: none is removed later, and a resumed run has the
// same, or more, if it is made longer.
void keep_snapshot(const Options& options, int step, const std::string& bytes);

}  // namespace babygpt
