// Bug hunt 00c: it writes words that nobody can read.
//
// The table of probabilities p (V, V) is right: p[a][b] is how likely b is after a. `write` starts with a character and
// adds n more, each picked by its probability given the one before.
//
// The symptom: in the text that was counted, q is always followed by u. In what this writes, q is followed by v. Many
// of the pairs it writes have the probability 0.
//
// Check it: make exercise N=00c
#include <span>
#include <vector>

#include "common/base/rng.h"
using namespace babygpt;

// One of 0 .. V - 1, each with its probability. The probabilities are laid end to end on a line from 0 to 1; a random
// point on the line lies in one of them.
int pick(std::span<const double> probabilities, Rng& rng) {
    double point = rng.uniform(), end = 0;
    for (size_t i = 0; i < probabilities.size(); ++i) {
        end += probabilities[i];
        // Only now does `end` say where piece i ends. Asked before the sum, it said where piece i - 1 ends, and every
        // character was taken for the next one.
        if (point < end) return int(i);
    }
    return int(probabilities.size()) - 1;  // the sum may be a hair below 1
}

std::vector<int> write(const std::vector<std::vector<double>>& p, int first, int n, Rng& rng) {
    std::vector<int> text{first};
    for (int i = 0; i < n; ++i) text.push_back(pick(p[size_t(text.back())], rng));
    return text;
}
