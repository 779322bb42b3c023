// as shipped: distance_rows(0, 4, 4)[0, 0] is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    for (auto [kept, fresh, max] : {std::array{0, 4, 4}, {5, 1, 6}, {3, 2, 5}, {0, 5, 3}, {6, 3, 2}, {0, 1, 1}}) {
        auto expected = [&, kept = kept, fresh = fresh, max = max](auto place, int sign, bool clipped) {
            std::vector<std::vector<int>> rows(size_t(fresh), std::vector<int>(size_t(kept + fresh)));
            for (int i = 0; i < fresh; ++i)
                for (int j = 0; j < kept + fresh; ++j) {
                    int distance = sign * (place(i) - j);
                    if (clipped) distance = std::clamp(distance, 1 - max, max - 1);
                    rows[size_t(i)][size_t(j)] = distance + max - 1;
                }
            return rows;
        };
        auto right = [kept = kept](int i) { return kept + i; };
        expect_same(str("distance_rows(", kept, ", ", fresh, ", ", max, ")"), distance_rows(kept, fresh, max),
                    expected(right, 1, true),
                    "Row i is of the place kept + i. Its distance to key j is kept + i - j; clip it, then add max - 1.",
                    {{"The sign is the wrong way round: it is query place minus key place.", expected(right, -1, true)},
                     {"The places of the fresh ones begin after the kept ones, not at 0.",
                      expected([](int i) { return i; }, 1, true)},
                     {"Every fresh place is taken for the last one.",
                      expected([kept = kept, fresh = fresh](int) { return kept + fresh - 1; }, 1, true)},
                     {"What is beyond the table is not clipped to its end.", expected(right, 1, false)}});
    }
    return "At once, one by one and several at a time, and clipped at both ends.";
}
