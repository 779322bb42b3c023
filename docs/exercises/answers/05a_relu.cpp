// Task 05a: ReLU, its pullback, and the units it kills.
//
//   y[i] = x[i] where x[i] > 0, else 0                    x and y (n)
//   dx[i] = dy[i] where y[i] > 0, else 0                  dy and dx (n): what was cut off gets no gradient
// A unit is a column of h (N, C): one number at each of N places, after ReLU. A unit that is 0 at every place is dead:
// no gradient reaches its weights, and it may never come back. dead_share is the number of dead units over C.
//
// Check it: make exercise N=05a
// Hint: the pullback does not need x. Where y is 0, x was not positive.
#include <span>

#include "common/tensor/tensor.h"
using namespace babygpt;

void relu(std::span<const real> x, std::span<real> y) {
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

void relu_pullback(std::span<const real> y, std::span<const real> dy, std::span<real> dx) {
    // The slope is 1 where x went through and 0 where it was cut. At exactly 0 there is no slope; 0 is the custom.
    for (size_t i = 0; i < y.size(); ++i) dx[i] = y[i] > 0 ? dy[i] : 0;
}

double dead_share(const Tensor& h) {
    size_t N = size_t(h.size(0)), C = size_t(h.size(1)), dead = 0;
    for (size_t c = 0; c < C; ++c) {
        bool alive = false;  // one place where it speaks is enough
        for (size_t n = 0; n < N; ++n) alive = alive || h.values()[n * C + c] > 0;
        dead += !alive;
    }
    return double(dead) / double(C);
}
