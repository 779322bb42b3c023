// as shipped: All of counts is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int V = 5;
    for (const std::vector<int>& tokens : {std::vector<int>{0, 1, 4, 0, 2, 0, 3, 0, 1, 4, 0}, random_ids(60, V, 1)}) {
        Table counts(V, std::vector<double>(V, 0)), turned = counts, round = counts;
        for (size_t i = 0; i < tokens.size(); ++i) {
            size_t now = size_t(tokens[i]), next = size_t(tokens[(i + 1) % tokens.size()]);
            ++round[now][next];
            if (i + 1 < tokens.size()) ++counts[now][next], ++turned[next][now];
        }
        expect_same(
            "counts", count_pairs(tokens, V), counts, "counts[a][b] counts the places where b comes right after a.",
            {{"It is counted the wrong way round: the row is what came before, the column what came after.", turned},
             {"One pair too many: the last character is not followed by the first.", round}});

        Table p = counts, bare = counts, short_rows = counts, whole = counts;
        double all = double(tokens.size() - 1);
        for (size_t a = 0; a < V; ++a) {
            double total = 0;
            for (double count : counts[a]) total += count;
            for (size_t b = 0; b < V; ++b) {
                p[a][b] = (counts[a][b] + 1) / (total + V);
                bare[a][b] = counts[a][b] / total;
                short_rows[a][b] = (counts[a][b] + 1) / total;
                whole[a][b] = (counts[a][b] + 1) / (all + V);
            }
        }
        expect_same("p", probabilities(counts), p, "p[a][b] = (counts[a][b] + 1) / (the sum of row a + V).",
                    {{"The pair pretended is missing: a pair that never came has the probability 0, and an infinite "
                      "surprise.",
                      bare},
                     {"The rows sum to more than 1. V pairs are pretended in each row, so V goes into the divisor.",
                      short_rows},
                     {"The divisor counts all pairs. p[a] is about what comes after a: sum row a only.", whole}});
    }
    return "Counts and probabilities agree, and every row sums to 1.";
}
