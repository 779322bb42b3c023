// How much of a sample was learnt by heart.
#pragma once
#include <span>
#include <vector>

namespace babygpt {

// The longest common substring of tokens; of several, the first in the text.
std::vector<int> longest_shared_run(std::span<const int> sample, std::span<const int> text);

}  // namespace babygpt
