// The sample command: a model writes for a person, character by character.
#pragma once
#include <optional>

#include "common/write/sampler.h"

namespace babygpt {

// Writes options.count texts after the prompt ("-" reads it from standard input), or asks for prompts again and again.
// `training` is the text the model learnt from, if it is at hand: then the longest piece repeated from it is told.
void write_sample(const NextLogits& next, const Vocabulary& vocabulary, const Options& options,
                  const std::optional<std::vector<int>>& training = {});

}  // namespace babygpt
