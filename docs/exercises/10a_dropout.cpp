// Task 10a: dropout.
//
// While training, dropout sets a share p of the numbers to 0, others each time, so that no number relies on one other.
// The dropout mask decides for each number:
//   mask[i] = 0 with the probability p, and 1 / (1 - p) otherwise                mask (n)
//   y[i] = x[i] * mask[i]                                                        x and y (n)
//   dx[i] = dy[i] * mask[i]                                                      dy and dx (n): the same mask
// The 1 / (1 - p) makes up for what is missing: on average y is x, so that without dropout, when writing, the numbers
// are as large as they were in training.
//
// Check it: make exercise N=10a
// Hint: rng.uniform() is a number from 0 up to 1; it lies below p with the probability p.
#include <span>
#include <vector>

#include "common/base/rng.h"
#include "common/tensor/real.h"
using namespace babygpt;

std::vector<real> dropout_mask(size_t n, double p, Rng& rng) {
    std::vector<real> mask(n, 0);
    // your code here
    return mask;
}

void dropout(std::span<const real> x, const std::vector<real>& mask, std::span<real> y) {
    // your code here
}

void dropout_pullback(std::span<const real> dy, const std::vector<real>& mask, std::span<real> dx) {
    // your code here
}
