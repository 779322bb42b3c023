// as shipped: 100 % of the coins are 0, expected about 25 %
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const size_t n = 20000;
    Rng rng(1, "dropout");
    for (double p : {0.25, 0.1, 0.5}) {
        std::vector<real> coins = throw_coins(n, p, rng);
        expect(coins.size() == n, str("There are ", coins.size(), " coins, expected ", n, "."), "One for each number.");
        const double kept = 1 / (1 - p);
        double dropped[2] = {};  // in the first half, and in the second
        for (size_t i = 0; i < n; ++i) dropped[2 * i / n] += coins[i] == 0 ? 2.0 / n : 0;
        for (double share : dropped)
            expect(std::abs(share - p) < 0.025,
                   str("With p = ", p, " ", std::round(100 * share), " % of the coins are 0, expected about ", 100 * p,
                       " %."),
                   std::abs(share - (1 - p)) < 0.025
                       ? "It is turned round: p is the share that is dropped, not the one that is kept."
                       : "A coin is 0 where rng.uniform() < p, with a throw of its own for each number.");
        for (size_t i = 0; i < n; ++i) {
            if (coins[i] == 0 || std::abs(coins[i] - kept) < 1e-5) continue;
            wrong(str("With p = ", p, " coins[", i, "] is ", coins[i], ", expected 0 or ", kept, "."),
                  coins[i] == 1 ? "What is kept is scaled up by 1 / (1 - p), or the sums get smaller in training."
                                : "What is kept is scaled by 1 / (1 - p): what p takes away comes back on average.");
        }
        expect(throw_coins(n, p, rng) != coins, "Two calls give the same coins.",
               "Take the throws from the rng that is passed in: it goes on, and gives others each time.");
    }
    expect_same("coins for p = 0", throw_coins(4, 0, rng), std::vector<double>{1, 1, 1, 1}, "Nothing is dropped.");

    const std::vector<real> x = random_numbers(5, 2), dy = random_numbers(5, 3), coins{2, 0, 2, 2, 0};
    std::vector<real> y(5, 0), dx(5, 0);
    dropout(x, coins, y);
    expect_same("y", y, numbers(5, [&](size_t i) { return x[i] * coins[i]; }), "y = x * coin.");
    dropout_pullback(dy, coins, dx);
    expect_same("dx", dx, numbers(5, [&](size_t i) { return dy[i] * coins[i]; }), "dx = dy * coin.",
                {{"The scale is missing: the slope of coin * x is the coin, 0 or 1 / (1 - p).",
                  numbers(5, [&](size_t i) { return coins[i] ? dy[i] : 0; })},
                 {"All of dy comes through: what was dropped has no part in y.", dy}});
    return "A share p is dropped, the rest is scaled up, and the gradient meets the same coins.";
}
