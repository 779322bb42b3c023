// as shipped: nucleus is {0, 1, 2, 3}, expected {1, 3}
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const std::vector<double> q{0.05, 0.5, 0.15, 0.3};
    struct Case {
        double p;
        std::vector<int> kept, too_few;
    };
    for (const auto& [p, kept, too_few] :
         {Case{0.7, {1, 3}, {1}}, Case{0.9, {1, 3, 2}, {1, 3}}, Case{0.4, {1}, {}}, Case{0, {1}, {}},
          Case{0.97, {1, 3, 2, 0}, {1, 3, 2}}, Case{2, {1, 3, 2, 0}, {}}}) {
        std::vector<int> found = nucleus(q, p), sorted = found, expected = kept;
        std::ranges::sort(sorted), std::ranges::sort(expected);
        std::string hint = "Sum q from the likeliest on, and stop as soon as the sum reaches p.";
        if (found == too_few) hint = "One too few: the character that crosses p is kept, or the sum would not reach p.";
        if (found.size() == 4) hint = "All are kept, although fewer reach p.";
        if (found.size() > 1 && q[size_t(found[0])] < q[size_t(found[1])])
            hint = "The likeliest comes first: sort from high to low.";
        if (sorted == expected) hint = "These are the right ones, in another order: the likeliest comes first.";
        if (p == 0) hint = "At least one character is kept: the likeliest.";
        expect(found == kept,
               str("q = {0.05, 0.5, 0.15, 0.3}, p = ", p, ": nucleus is ", list(found), ", expected ", list(kept), "."),
               hint);
    }
    for (auto [u, expected] : {std::pair{0.0, 1}, {0.6, 1}, {0.64, 3}, {0.99, 3}}) {
        int found = pick_from(q, {1, 3}, u);
        std::string hint =
            "q of the kept is 0.5 and 0.3, together 0.8. The line of length 0.8 is cut at 0.5; u * 0.8 says "
            "where on it.";
        if (found == 0) hint = "It gives the place in `kept`. Return the character that stands there.";
        if (u == 0.6 && found == 3) hint = "The kept sum to 0.8, not to 1: compare the running sum with u * total.";
        expect(found == expected, str("kept = {1, 3}, u = ", u, ": it picks ", found, ", expected ", expected, "."),
               hint);
    }
    std::vector<double> many(50);
    Rng rng(1);
    double total = 0;
    for (double& value : many) total += (value = rng.uniform());
    for (double& value : many) value /= total;
    std::vector<int> kept = nucleus(many, 0.6);
    double sum = 0;
    for (size_t i = 0; i < kept.size(); ++i) {
        double likely = many[size_t(kept[i])];
        expect(sum < 0.6 && (i == 0 || likely <= many[size_t(kept[i - 1])]),
               str("Of 50 characters, p = 0.6: number ", i, " of the nucleus is one too many, or out of order."),
               "The likeliest first, and none after the sum has reached p.");
        sum += likely;
    }
    expect(sum >= 0.6, str("Of 50 characters, p = 0.6: the nucleus sums to ", sum, "."), "It has to reach p.");
    return "It keeps as few as reach p, and picks among them by their probabilities.";
}
