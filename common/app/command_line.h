// From the words of a command line to a command and its options.
#pragma once
#include "common/base/options.h"

namespace babygpt {

enum class Command { train, compare, sample, fill, follows, translate, measure };

// Reads the command line over the stage's defaults. A stage that names a model to begin with trains none, but compares.
// Fails with one line on anything it cannot use; exits after --help.
Command parse_options(int argc, char** argv, Options& options);
// The same over other values than the stage's defaults, which decide only what options there are.
Command parse_options(int argc, char** argv, Options& options, const Options& stage);

}  // namespace babygpt
