// as shipped: All of m is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const size_t n = 6;
    const double rate = 0.1, decay = 0.2;
    Tensor parameter = random_parameter({int(n)}, 1);
    AdamW core({{"w", parameter}}, decay);
    std::vector<real> w(parameter.values().begin(), parameter.values().end()), m(n, 0), v(n, 0);
    for (int t = 1; t <= 3; ++t) {
        Tensor gradient = random_tensor({int(n)}, uint64_t(10 + t));
        gradient.values()[0] = real(1e-8);  // as small as epsilon: now it matters where epsilon stands
        std::vector<real> g(gradient.values().begin(), gradient.values().end());
        const std::vector<real> before = w;
        sum(parameter * gradient).backward();
        core.step(rate);
        adamw_step(w, g, m, v, t, rate, decay);
        std::string step = str("After step ", t, ". ");
        expect_same("m", m, core.means[0], step + "m = 0.9 m + 0.1 g.",
                    {{"The shares are swapped: 0.9 of what m was and 0.1 of g.",
                      numbers(n, [&](size_t i) { return 0.9 * g[i]; })},
                     {"decay * w has gone into the gradient. In AdamW the shrinking stays apart from m and v.",
                      numbers(n, [&](size_t i) { return 0.1 * (g[i] + decay * before[i]); })}});
        expect_same("v", v, core.squares[0], step + "v = 0.99 v + 0.01 g g.",
                    {{"It holds g where g * g should be.", numbers(n, [&](size_t i) { return 0.01 * g[i]; })}});
        if (t > 1) {
            expect_same("w", w, parameter, step + "Step 1 was right. m and v are kept from step to step, and t grows.");
            continue;
        }
        const double shrinking = rate * decay;
        auto moved = [&](auto by, double shrink) {  // by(g): m over the root of v, in some way
            return numbers(n, [&](size_t i) { return before[i] * (1 - shrink) - rate * by(double(g[i])); });
        };
        const double root = std::sqrt(0.01);
        expect_same("w", w, parameter, "w shrinks by rate * decay * w and moves against the gradient.",
                    {{"w has not changed yet.", before},
                     {"The divisions by 1 - beta1^t and 1 - beta2^t are missing: m and v start at 0 and are too small "
                      "at first.",
                      moved([&](double d) { return 0.1 * d / (root * std::abs(d) + 1e-8); }, shrinking)},
                     {"w does not shrink: take off rate * decay * w as well.",
                      moved([](double d) { return d / (std::abs(d) + 1e-8); }, 0)},
                     {"The shrinking misses the rate: rate * decay * w.",
                      moved([](double d) { return d / (std::abs(d) + 1e-8); }, decay)},
                     {"epsilon stands inside the root. It is added to the root.",
                      moved([](double d) { return d / std::sqrt(d * d + 1e-8); }, shrinking)},
                     {"It goes uphill: the step is taken off, not added.",
                      moved([](double d) { return -d / (std::abs(d) + 1e-8); }, shrinking)}});
    }
    return "Three steps move the parameters as the core's AdamW does.";
}
