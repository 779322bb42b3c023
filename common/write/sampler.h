// From a model to text.
#pragma once
#include <functional>

#include "common/base/options.h"
#include "common/nn/nn.h"
#include "common/text/vocabulary.h"

namespace babygpt {

// What the next token may be: by logits over the temperature, the top_k likeliest, and of these as many as reach top_p.
struct Choices {
    std::vector<int> tokens;      // the likeliest first
    std::vector<double> weights;  // theirs: probabilities times `total`
    double total;
};
Choices choices(std::span<const real> logits, const Options& options);
// Fails if one of them is no number.
void check_scores(std::span<const real> logits);
// The likeliest token.
int argmax(std::span<const real> logits);
// One of the choices by its probability.
int pick(std::span<const real> logits, const Options& options, Rng& rng);

// What comes after the tokens: scores of the next one. Of a long context it reads what the model's block has room for.
using NextLogits = std::function<std::vector<real>(std::span<const int> context)>;
NextLogits next_logits(const LanguageModel& model, int block_size);

// The prompt's tokens; an empty prompt is a new paragraph.
std::vector<int> prompt_tokens(const Vocabulary& vocabulary, const Options& options);

// Adds options.tokens tokens to the context, one by one, and gives each with the scores it was picked by to `each`.
// Ends early at the text options.stop, or when `each` returns false.
using EachToken = std::function<bool(int token, std::span<const real> logits)>;
void generate(const NextLogits& next, std::vector<int>& context, const Vocabulary& vocabulary, const Options& options,
              Rng& rng, const EachToken& each);

// The text after the prompt, as one piece.
std::string write_text(const NextLogits& next, const Vocabulary& vocabulary, const Options& options);

// One tale each of `count` independent tries, for the judge: from an empty line to the next, at most 300 characters.
std::string write_tales(const NextLogits& next, const Vocabulary& vocabulary, const Options& options, int count = 40);
// The same as a list, of which tales `part`, `part` + `parts`, ... are written, and the others left empty.
std::vector<std::string> list_tales(const NextLogits& next, const Vocabulary& vocabulary, const Options& options,
                                    int count, int part, int parts);

}  // namespace babygpt
