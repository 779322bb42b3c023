// Task 10d: choose among the likely ones only.
//
// q (V) holds the probabilities of V characters. The tail of very unlikely ones is long, and together they come too
// often. Top-p keeps the likeliest characters that together reach the probability p, and picks one of these.
//   nucleus(q, p): the characters, the likeliest first, as few as possible with q[first] + q[second] + ... >= p
//   pick_from(q, kept, u): u is random, from 0 up to 1. With total = the sum of q over the kept characters, return the
//       first of them at which the running sum of q is above u * total.
// At least one character is kept, also for p = 0. If the sum never reaches p, all are kept.
//
// Check it: make exercise N=10d
// Hint: the character that crosses p is kept. Sort the characters' numbers, not the probabilities: std::sort(...,
// [&](int a, int b) { return q[size_t(a)] > q[size_t(b)]; }).
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

std::vector<int> nucleus(std::span<const double> q, double p) {
    std::vector<int> kept(q.size());
    std::iota(kept.begin(), kept.end(), 0);  // 0, 1, ..., V - 1
    std::sort(kept.begin(), kept.end(), [&](int a, int b) { return q[size_t(a)] > q[size_t(b)]; });
    double sum = 0;
    for (size_t i = 0; i < kept.size(); ++i) {
        sum += q[size_t(kept[i])];  // summed before it is asked: the one that crosses p stays
        if (sum < p) continue;
        kept.resize(i + 1);
        break;
    }
    return kept;
}

int pick_from(std::span<const double> q, const std::vector<int>& kept, double u) {
    double total = 0, sum = 0;
    for (int character : kept) total += q[size_t(character)];  // less than 1: what was cut off is shared out again
    for (int character : kept)
        if ((sum += q[size_t(character)]) > u * total) return character;
    return kept.back();  // the sums may differ by a rounding
}
