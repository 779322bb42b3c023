// Task 10a: dropout.
//
// While training, dropout sets a share p of the numbers to 0, others each time, so that no number relies on one other.
// A coin for each number decides:
//   coin = 0 with the probability p, and 1 / (1 - p) otherwise                   coins (n)
//   y[i] = x[i] * coin[i]                                                        x and y (n)
//   dx[i] = dy[i] * coin[i]                                                      dy and dx (n): the same coins
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

std::vector<real> throw_coins(size_t n, double p, Rng& rng) {
    std::vector<real> coins(n, 0);
    for (real& coin : coins) coin = rng.uniform() < p ? 0 : real(1 / (1 - p));  // one throw for each number
    return coins;
}

void dropout(std::span<const real> x, const std::vector<real>& coins, std::span<real> y) {
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * coins[i];
}

void dropout_pullback(std::span<const real> dy, const std::vector<real>& coins, std::span<real> dx) {
    // y = coin * x, and a coin is a constant: its slope is the coin, scale and all. New coins would be another y.
    for (size_t i = 0; i < dy.size(); ++i) dx[i] = dy[i] * coins[i];
}
