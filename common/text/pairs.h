// Sentences with their translations, in a part to train on and a part to validate on.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace babygpt {

struct ParallelCorpus {
    struct Pair {
        std::u32string source, target;
    };
    std::string name;              // "pairs" or the file's
    std::vector<Pair> train, val;  // the first 90 % and the last 10 %, in the text's order
    uint64_t hash;                 // of the text, to know it again
    bool built_in;                 // translation() of data/pairs.h is its judge
    size_t seen = 0;               // pairs that are left out of val, since train has their source, too
};

ParallelCorpus load_pairs(const std::string& data);  // the built-in pairs by their name, or a UTF-8 file

// A line is a pair, a tab is between its sides; line ends may be Windows' own. Fails at the first line that is not so.
std::vector<ParallelCorpus::Pair> parse_pairs(const std::string& name, std::string_view bytes);
ParallelCorpus make_parallel_corpus(const std::string& name, std::string_view bytes);

}  // namespace babygpt
