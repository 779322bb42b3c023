// Task 00a: count which character follows which, and make probabilities of the counts.
//
// tokens (n) is a text as numbers from 0 to V - 1. Write
//   counts[a][b] = how often b came right after a                              (V, V)
//   p[a][b] = (counts[a][b] + 1) / (sum over c of counts[a][c] + V)            (V, V)
// p[a][b] is how likely b is after a. The + 1 pretends to have seen every pair once more, so that none is impossible;
// the + V makes each row sum to 1 again.
//
// Check it: make exercise N=00a
// Hint: n characters make n - 1 pairs. The first character follows nothing.
#include <vector>

using Table = std::vector<std::vector<double>>;

Table count_pairs(const std::vector<int>& tokens, int V) {
    Table counts(size_t(V), std::vector<double>(size_t(V), 0));
    // The row is what came before, the column what came after. From 1: tokens[0] has nothing before it.
    for (size_t i = 1; i < tokens.size(); ++i) ++counts[size_t(tokens[i - 1])][size_t(tokens[i])];
    return counts;
}

Table probabilities(const Table& counts) {
    size_t V = counts.size();
    Table p(V, std::vector<double>(V, 0));
    for (size_t a = 0; a < V; ++a) {
        double total = 0;  // of this row only: p is about what comes after a
        for (size_t b = 0; b < V; ++b) total += counts[a][b];
        for (size_t b = 0; b < V; ++b) p[a][b] = (counts[a][b] + 1) / (total + double(V));
    }
    return p;
}
