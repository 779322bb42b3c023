// The sample command of a stage that trains: a saved model writes.
#pragma once
#include "common/train/language.h"

namespace babygpt {

void sample_from_run(const Options& options, const Options& stage, const MakeModel& make_model,
                     const MakeWriter& make_writer = next_logits);

// The text a model was trained on, if it is still where it was.
std::optional<std::vector<int>> training_text(const SavedModel& saved);

}  // namespace babygpt
