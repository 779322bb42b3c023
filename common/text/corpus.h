// A text as tokens, in a part to train on and a part to validate on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text/vocabulary.h"
#include "data/grammar.h"

namespace babygpt {

struct Corpus {
    std::string name;  // "tales", "verses" or the file's
    Vocabulary vocabulary;
    std::vector<int> train, val;  // the first 90 % and the last 10 %
    std::optional<double> floor;  // of val, in nats per character, where it is known
    const Grammar* judge;         // of what a model writes, where there is one
    uint64_t hash;                // of the text, to know it again
};

Corpus load_corpus(const std::string& data);  // a built-in corpus by its name, or a UTF-8 file
Corpus make_corpus(const std::string& name, std::string_view bytes);

std::string read_data(const std::string& data);  // the file that --data names; fails if it can't be used for a run
uint64_t fnv1a(std::string_view bytes);          // a hash

}  // namespace babygpt
