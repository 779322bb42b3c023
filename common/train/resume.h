// --resume: a run goes on as if it had not stopped. resume.cpp has what TrainingRun saves for it, and restores.
#pragma once
#include "common/base/options.h"

namespace babygpt {

// The options of the run in a directory, as it was last saved.
Options saved_options(const std::string& directory, const Options& stage);

}  // namespace babygpt
