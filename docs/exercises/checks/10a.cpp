// as shipped: 100 % of the mask is 0, expected about 25 %
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const size_t n = 20000;
    Rng rng(1, "dropout");
    for (double p : {0.25, 0.1, 0.5}) {
        std::vector<real> mask = dropout_mask(n, p, rng);
        expect(mask.size() == n, str("The mask has ", mask.size(), " numbers, expected ", n, "."),
               "One for each number.");
        const double kept = 1 / (1 - p);
        double dropped[2] = {};  // in the first half, and in the second
        for (size_t i = 0; i < n; ++i) dropped[2 * i / n] += mask[i] == 0 ? 2.0 / n : 0;
        for (double share : dropped)
            expect(std::abs(share - p) < 0.025,
                   str("With p = ", p, " ", std::round(100 * share), " % of the mask is 0, expected about ", 100 * p,
                       " %."),
                   std::abs(share - (1 - p)) < 0.025
                       ? "It is turned round: p is the share that is dropped, not the one that is kept."
                       : "The mask is 0 where rng.uniform() < p, with a throw of its own for each number.");
        for (size_t i = 0; i < n; ++i) {
            if (mask[i] == 0 || std::abs(mask[i] - kept) < 1e-5) continue;
            wrong(str("With p = ", p, " mask[", i, "] is ", mask[i], ", expected 0 or ", kept, "."),
                  mask[i] == 1 ? "What is kept is scaled up by 1 / (1 - p), or the sums get smaller in training."
                               : "What is kept is scaled by 1 / (1 - p): what p takes away comes back on average.");
        }
        expect(dropout_mask(n, p, rng) != mask, "Two calls give the same mask.",
               "Take the throws from the rng that is passed in: it goes on, and gives others each time.");
    }
    expect_same("mask for p = 0", dropout_mask(4, 0, rng), std::vector<double>{1, 1, 1, 1}, "Nothing is dropped.");

    const std::vector<real> x = random_numbers(5, 2), dy = random_numbers(5, 3), mask{2, 0, 2, 2, 0};
    std::vector<real> y(5, 0), dx(5, 0);
    dropout(x, mask, y);
    expect_same("y", y, numbers(5, [&](size_t i) { return x[i] * mask[i]; }), "y = x * mask.");
    dropout_pullback(dy, mask, dx);
    expect_same("dx", dx, numbers(5, [&](size_t i) { return dy[i] * mask[i]; }), "dx = dy * mask.",
                {{"The scale is missing: the slope of mask * x is the mask, 0 or 1 / (1 - p).",
                  numbers(5, [&](size_t i) { return mask[i] ? dy[i] : 0; })},
                 {"All of dy comes through: what was dropped has no part in y.", dy}});
    return "A share p is dropped, the rest is scaled up, and the gradient meets the same mask.";
}
