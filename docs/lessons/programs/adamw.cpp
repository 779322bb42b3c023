// Lesson 01: AdamW as a plain loop, beside the class AdamW of common/nn and beside plain gradient descent, on three
// parameters that start at 1: ten steps with a gradient of 1, of 0.001, and of 1 and -1 in turn.
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

//> plain
struct Plain {
    double w, mean = 0, square = 0;

    void step(double g, double rate, double decay, int t) {
        const double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8;
        mean = beta1 * mean + (1 - beta1) * g;
        square = beta2 * square + (1 - beta2) * g * g;
        double m = mean / (1 - std::pow(beta1, t)), v = square / (1 - std::pow(beta2, t));  // both started at 0
        w -= rate * decay * w;                     // weight decay: shrink, whatever the gradient
        w -= rate * m / (std::sqrt(v) + epsilon);  // step against the gradient, by its usual size
    }
};
//< plain

int main() {
    const double rate = 0.03, decay = 0.01;
    const char* names[] = {"always_1", "always_0.001", "1_then_-1"};
    Tensor class_w = Tensor::parameter({3});
    AdamW optimiser({{"w", class_w}}, decay, 0.9, 0.99);
    Plain plain[] = {{1}, {1}, {1}};
    double descent[] = {1, 1, 1};
    for (real& w : class_w.values()) w = 1;
    for (int t = 1; t <= 10; ++t) {
        const double g[] = {1, 0.001, t % 2 ? 1.0 : -1.0};
        sum(class_w * Tensor({3}, {real(g[0]), real(g[1]), real(g[2])})).backward();  // its gradient is g
        optimiser.step(rate);
        for (int i : {0, 1, 2}) plain[i].step(g[i], rate, decay, t), descent[i] -= rate * g[i];
    }
    std::printf("the gradient   w: descent  AdamW, plain  class AdamW\n");
    for (int i : {0, 1, 2})
        std::printf("%-12s %12.5f %13.5f %12.5f\n", names[i], descent[i], plain[i].w,
                    double(class_w.values()[size_t(i)]));
}
