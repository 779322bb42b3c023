// as shipped: with 2 ranks the slope is
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    std::vector<Example> examples;
    Rng rng(7, "examples");
    for (int i = 0; i < 200; ++i) {
        double x = 2 * rng.uniform() - 1;
        examples.push_back({x, 3 * x + 1 + 0.5 * rng.normal()});
    }
    for (int B : {12, 10}) {
        auto learnt = [&](int ranks) {
            std::vector<Rank> all = make_ranks(ranks, 1);
            train(all, examples, B, 40, 0.1);
            for (const Rank& each : all)
                expect(each.slope == all[0].slope && each.start == all[0].start,
                       str("with ", ranks, " ranks they have different lines"),
                       "All begin at the same line and make the same step.");
            return all[0];
        };
        Rank one = learnt(1);
        expect(std::abs(one.slope - 3) < 1, str("one rank finds the slope ", one.slope, ", not about 3"),
               "With one rank it was right.");
        for (int ranks : {2, 3, 4}) {
            Rank found = learnt(ranks);
            expect(std::abs(found.slope - one.slope) < 1e-9 && std::abs(found.start - one.start) < 1e-9,
                   str("with ", ranks, " ranks the slope is ", found.slope,
                       ", and one rank with the same batches finds ", one.slope, " (B = ", B, ")"),
                   "Print which examples each rank takes in the first step, with one rank and with two.");
        }
    }
    return "2, 3 and 4 ranks find what one finds: the batch is the same, whoever computes it.";
}
