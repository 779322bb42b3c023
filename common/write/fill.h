// What a BERT can be asked: which characters fill the blanks of a text, and whether one text follows another.
#pragma once
#include "common/nn/bert.h"
#include "common/text/tokenizer.h"

namespace babygpt {

// A BERT that can be asked: the model, its tokens, and how many of them it can read.
struct Reader {
    const PreTrainingModel& model;
    const Tokenizer& tokenizer;
    int max_tokens;
    HeadsByLayer pruned_heads = {};  // that were cut out; the others keep their numbers
};

struct Guess {
    std::string token;
    double probability;
};
struct Blank {
    int number;                  // the first blank of the text is 1
    std::vector<Guess> guesses;  // the likeliest, five at most
};
struct Filled {
    std::vector<Blank> blanks;  // in the order in which they were filled: the surest first
    std::vector<std::string> texts;
    BertInput input;  // as it was read for the first blank
};
// One text or two. Each _ is a blank for one token; every guess sees those made before it.
Filled fill_blanks(const Reader& reader, const std::vector<std::string>& texts);
Filled fill_masks(const Reader& reader, const std::vector<std::vector<int>>& texts);  // each [MASK] is a blank

struct Follows {
    double probability;
    BertInput input;
};
Follows second_follows(const Reader& reader, const std::string& first, const std::string& second);

}  // namespace babygpt
