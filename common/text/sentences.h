// A text as sentences, for models that read two at a time and have to say whether the second belongs to the first.
#pragma once
#include <cstdint>

#include "common/text/tokenizer.h"
#include "data/grammar.h"

namespace babygpt {

// What two sentences of a tale can share.
inline constexpr std::string_view paired_kinds[]{"name", "thing", "place", "box"};

struct Sentences {
    struct Pair {           // two sentences that belong together
        int first, second;  // their numbers
        int document;       // where they stand, a tale; of other texts each pair is one of its own
        int place;          // of the second in it: one from another place could be told by its form alone
    };
    std::string name;  // "tales" or the file's
    CharacterTokenizer tokenizer;
    std::vector<std::vector<int>> tokens;  // of each sentence
    std::vector<std::vector<Span>> spans;  // where its names, things and so on stand, if the text is a grammar's
    int val_begins;                        // the sentences from this one on, about a tenth, are for validation
    std::vector<Pair> train, val;
    uint64_t hash;  // of the text, to know it again
};

// The sentences of tales: two belong together if they share at least three of the paired kinds, as two of one tale can.
// Of any other text the lines: two belong together if one comes right after the other.
Sentences load_sentences(const std::string& data);

}  // namespace babygpt
