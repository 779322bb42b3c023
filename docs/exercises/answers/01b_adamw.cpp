// Task 01b: one step of AdamW.
//
// w (n) are parameters, g (n) their gradients. m (n) and v (n) are running means of g and of its square; they start at
// 0 and are kept from step to step. t counts the steps from 1. Everything happens number by number:
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g g
//   w = w - rate * decay * w                                            shrink a little, whatever the gradient
//   w = w - rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
// The divisions by 1 - beta^t make up for the start at 0: after one step m is only a tenth of g.
//
// Check it: make exercise N=01b
// Hint: std::pow(beta1, t). Update m and v first, then use the new ones.
#include <cmath>
#include <span>

#include "common/tensor/real.h"
using namespace babygpt;

void adamw_step(std::span<real> w, std::span<const real> g, std::span<real> m, std::span<real> v, int t, double rate,
                double decay) {
    const double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8;
    for (size_t i = 0; i < w.size(); ++i) {
        m[i] = real(beta1 * m[i] + (1 - beta1) * g[i]);
        v[i] = real(beta2 * v[i] + (1 - beta2) * g[i] * g[i]);
        double mean = m[i] / (1 - std::pow(beta1, t)), square = v[i] / (1 - std::pow(beta2, t));
        // The shrinking is not part of the gradient, so it does not go through m and v: that is the W of AdamW.
        double shrunk = w[i] - rate * decay * w[i];
        w[i] = real(shrunk - rate * mean / (std::sqrt(square) + epsilon));
    }
}
