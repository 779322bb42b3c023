// A text as sentences, for models that read two at a time and have to say whether the second belongs to the first.
#pragma once
#include <cstdint>

#include "common/text/tokenizer.h"

namespace babygpt {

struct Sentences {
    struct Pair {           // two sentences that belong together
        int first, second;  // their numbers
        int document;       // the one they both stand in
        int place;          // of the second in it: what comes from elsewhere instead must not show by its form
    };
    std::string name;  // "tales" or the file's
    CharacterTokenizer tokenizer;
    std::vector<std::vector<int>> tokens;  // of each sentence
    std::vector<Pair> train, val;          // of the first 90 % and the last 10 % of the documents
    uint64_t hash;                         // of the text, to know it again
};

// The tales' sentences, of which two belong together if they have at least two things in common (name, thing, place,
// box); or the lines of a UTF-8 file: each belongs to the one before, but for an empty line between them.
Sentences load_sentences(const std::string& data);

}  // namespace babygpt
