// From a model to text.
#pragma once
#include <functional>

#include "common/corpus.h"
#include "common/nn.h"
#include "common/options.h"

namespace babygpt {

// The next token: the logits over the temperature, of those the top_k likeliest, of those the likeliest that together
// reach top_p, and one of them by its probability.
int pick(std::span<const real> logits, const Options& options, Rng& rng);

// What comes after the tokens: scores of the next one. The context is cropped to the block size.
using NextLogits = std::function<std::vector<real>(std::span<const int> context)>;
NextLogits next_logits(const LanguageModel& model, int block_size);

// options.tokens characters after the prompt, without it.
std::string write_text(const NextLogits& next, const Vocabulary& vocabulary, const Options& options);

// The sample command: the prompt and what comes after it, to standard output.
void write_sample(const NextLogits& next, const Vocabulary& vocabulary, const Options& options);

// One tale each of `count` independent tries, for the judge: from an empty line to the next, at most 400 characters.
std::string write_tales(const NextLogits& next, const Vocabulary& vocabulary, const Options& options, int count = 40);

}  // namespace babygpt
