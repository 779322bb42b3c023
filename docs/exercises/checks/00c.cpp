// as shipped: pairs it wrote have the probability 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const std::vector<std::vector<double>> p{
        {0, 0.7, 0.3, 0, 0}, {0.5, 0, 0.5, 0, 0}, {0, 0, 0.1, 0.9, 0}, {0.2, 0.2, 0.2, 0.2, 0.2}, {1, 0, 0, 0, 0}};
    const int n = 8000;
    Rng rng(3, "sampling");
    std::vector<int> text = write(p, 0, n, rng);
    expect(text.size() == size_t(n) + 1, str("write returns ", text.size(), " characters, expected ", n + 1, "."),
           "The first character, then n more.");
    std::vector<std::vector<double>> counts(5, std::vector<double>(5, 0));
    std::vector<double> totals(5, 0);
    int impossible = 0;
    std::string example;
    for (size_t i = 1; i < text.size(); ++i) {
        size_t a = size_t(text[i - 1]), b = size_t(text[i]);
        ++counts[a][b], ++totals[a];
        if (p[a][b] > 0) continue;
        if (impossible++ == 0) example = str("the first is ", b, " after ", a);
    }
    expect(
        impossible == 0, str(impossible, " of the ", n, " pairs it wrote have the probability 0; ", example, "."),
        "Take the row {0, 0.7, 0.3, 0, 0} and the point 0.5, and follow the loop with a pencil. It should end at 1.");
    for (size_t a = 0; a < 5; ++a)
        for (size_t b = 0; b < 5; ++b)
            expect(std::abs(counts[a][b] / totals[a] - p[a][b]) < 0.04,
                   str("After ", a, " it wrote ", b, " in ", std::round(100 * counts[a][b] / totals[a]),
                       " % of the cases; its probability is ", 100 * p[a][b], " %."),
                   "Each character owns a piece of the line from 0 to 1, as long as its probability.");
    return str("It wrote ", n, " pairs, each about as often as the table says.");
}
