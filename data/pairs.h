// Sentences of the tales with their translation into Chinese: a parallel corpus whose judge is the grammar itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace babygpt {

struct Pair {
    std::string source, target;
};

// The sentences of the tales of this seed, in their order, each once.
std::vector<Pair> pairs(uint64_t seed, size_t count);
std::string to_lines(const std::vector<Pair>& pairs);  // a pair a line, a tab between its sides

// The one translation of any sentence of the tales; nothing if the tales have no such sentence.
std::optional<std::string> translation(std::string_view english);

}  // namespace babygpt
