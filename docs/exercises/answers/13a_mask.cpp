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
    for (size_t t = 0; t < ids.size(); ++t) {
        if (ids[t] < first_character || rng.uniform() >= 0.15) continue;
        labels[t] = ids[t];  // before it changes; also of those that stay, so that no place can be taken on trust
        double die = rng.uniform();
        if (die < 0.8)
            ids[t] = mask_token;
        else if (die < 0.9)  // a throw of its own here would have to be 0.5: half of the 20 % that are left
            ids[t] = first_character + int(rng.below(size_t(V - first_character)));
    }
    return labels;
}
