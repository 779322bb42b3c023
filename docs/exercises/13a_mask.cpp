// Task 13a: mask a sentence for training.
//
// Tokens 0 to 4 are special: [PAD], [UNK], [CLS], [SEP], [MASK]. Those from 5 to V - 1 are the characters. In a row of
// tokens each character is chosen with the probability 15 %, a special token never. What is chosen is to be guessed:
//   with the probability 80 %   it becomes [MASK]
//   with the probability 10 %   it becomes a character, any of them
//   with the probability 10 %   it stays as it is
// Change ids in place. Return the labels: where a character was chosen, what stood there; ignore_index elsewhere.
//
// Check it: make exercise N=13a
// Hint: rng.uniform() is a number from 0 up to 1; rng.below(n) is a whole number from 0 to n - 1.
#include <vector>

#include "common/base/rng.h"
#include "common/tensor/ops.h"  // ignore_index
using namespace babygpt;

constexpr int mask_token = 4, first_character = 5;

std::vector<int> mask_tokens(std::vector<int>& ids, int V, Rng& rng) {  // ids and labels (T)
    std::vector<int> labels(ids.size(), ignore_index);
    // your code here
    return labels;
}
