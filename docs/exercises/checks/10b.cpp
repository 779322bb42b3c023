// as shipped: The rate is the same at every step
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const double highest = 5e-3;
    for (auto [warmup, steps] : {std::pair{10, 100}, {0, 40}, {7, 23}}) {
        const size_t n = size_t(steps + 20);
        Schedule core{.learning_rate = highest, .warmup = warmup, .steps = steps, .decay = true};
        auto cosine = [](double done) { return (1 + std::cos(std::acos(-1.0) * done)) / 2; };
        // The rates of all steps, with some other rise or fall.
        auto rates = [&](auto rise, auto fall) {
            return numbers(n, [&](size_t i) {
                int step = int(i);
                return step < warmup ? highest * rise(double(step))
                                     : highest * fall(double(step - warmup) / (steps - warmup));
            });
        };
        auto rise = [&](double step) { return (step + 1) / (warmup + 1); };
        auto fall = [&](double done) { return 0.1 + 0.9 * cosine(std::min(done, 1.0)); };
        expect_same(str("with warmup = ", warmup, " and steps = ", steps, ", rate"),
                    numbers(n, [&](size_t step) { return rate_at(int(step), highest, warmup, steps); }),
                    numbers(n, [&](size_t step) { return core.at(int(step)); }),
                    "Rise by the first formula while step < warmup, then fall by the second.",
                    {{"The rate is the same at every step.", numbers(n, [&](size_t) { return highest; })},
                     {"It starts at 0: the first step would be lost. (step + 1) / (warmup + 1).",
                      rates([&](double step) { return step / warmup; }, fall)},
                     {"The rise is 0: int / int drops the fraction. Let a double come first.",
                      rates([](double) { return 0; }, fall)},
                     {"The fall never begins: int / int drops the fraction, and done is 0 until the end.",
                      rates(rise, [&](double done) { return fall(std::floor(done)); })},
                     {"It falls to 0. It should end at a tenth.",
                      rates(rise, [&](double done) { return cosine(std::min(done, 1.0)); })},
                     {"Past the end it rises again: done is at most 1.",
                      rates(rise, [&](double done) { return 0.1 + 0.9 * cosine(done); })},
                     {"It does not rise over the first steps.",
                      rates([&](double step) { return fall((step - warmup) / (steps - warmup)); }, fall)}});
    }
    return "The rate rises, falls along the cosine, and stays at a tenth.";
}
