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

// The bytes of a built-in text by its name, or of a UTF-8 file. Fails on a name that no run could tell of.
std::string read_text(const std::string& data);
uint64_t hash_of(std::string_view bytes);
constexpr uint64_t built_in_seed = 1;

Corpus load_corpus(const std::string& data);  // a built-in corpus by its name, or a UTF-8 file
Corpus make_corpus(const std::string& name, std::string_view bytes);

}  // namespace babygpt
