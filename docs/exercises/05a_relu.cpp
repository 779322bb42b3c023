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
    // your code here
}

void relu_pullback(std::span<const real> y, std::span<const real> dy, std::span<real> dx) {
    // your code here
}

double dead_share(const Tensor& h) {
    // your code here
    return 0;
}
