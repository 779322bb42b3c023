// Task 00b: the mean surprise of a text, in nats and in bits.
//
// tokens (n) is a text as numbers, p (V, V) the table: p[a][b] is how likely b is after a. The surprise of one
// character b after a is -log(p[a][b]): 0 for what was certain, large for what was improbable. Write the mean over the
// n - 1 pairs:
//   nats = - (sum over i = 1 .. n - 1 of log(p[tokens[i - 1]][tokens[i]])) / (n - 1)
//   bits = nats / log(2)
// log is the natural logarithm, std::log. A bit is the surprise of a fair coin.
//
// Check it: make exercise N=00b
// Hint: take the logarithm of each probability first and the mean of the logarithms after, not the other way round.
#include <cmath>
#include <vector>

struct Surprise {
    double nats, bits;
};

Surprise mean_surprise(const std::vector<std::vector<double>>& p, const std::vector<int>& tokens) {
    // your code here
    return {0, 0};
}
