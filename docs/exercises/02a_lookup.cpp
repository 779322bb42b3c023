// Task 02a: look up rows of a table, and send the gradient back to the rows.
//
// table (V, C) holds a row of C numbers for each of V characters. ids (N) are the characters at N places.
//   y[n, c] = table[ids[n], c]                            (N, C)
//   dtable[v, c] grows by the sum of dy[n, c] over all n with ids[n] == v
// A character that stands at three places is responsible for all three, so its row gets three shares. A character that
// does not occur gets none. dtable is added to: it may hold gradients already.
//
// Check it: make exercise N=02a
// Hint: all spans are row by row: element [n, c] is number n * C + c.
#include <span>
#include <vector>

#include "common/tensor/real.h"
using namespace babygpt;

void lookup(std::span<const real> table, const std::vector<int>& ids, size_t C, std::span<real> y) {
    // your code here
}

void lookup_pullback(std::span<const real> dy, const std::vector<int>& ids, size_t C, std::span<real> dtable) {
    // your code here
}
