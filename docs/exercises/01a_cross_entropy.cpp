// Task 01a: the loss and its gradient, for scores of any size.
//
// z (N, V) holds the scores of V characters at N places, row by row; target (N) says which character came. The loss is
// the mean surprise, with the probabilities that softmax makes of the scores:
//   loss = (sum over n of  log(sum over v of exp(z[n, v])) - z[n, target[n]]) / N
//   dz[n, v] = (softmax(z[n])[v] - (1 if v == target[n], else 0)) / N              (N, V)
// exp(1000) is more than a number can hold. Take the row's highest score off all of its scores first: softmax stays the
// same, and in the loss it cancels out, as log(sum of exp(z - m)) = log(sum of exp(z)) - m.
//
// Check it: make exercise N=01a
// Hint: go row by row, z.subspan(n * V, V): find the highest, sum the exponentials, then write the row of dz.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "common/tensor/real.h"
using namespace babygpt;

// Returns the loss and writes dz.
double cross_entropy(std::span<const real> z, const std::vector<int>& target, size_t V, std::span<real> dz) {
    // your code here
    return 0;
}
