// Task 10b: a learning rate that rises and falls.
//
// step counts from 0 to steps - 1. Over the first `warmup` steps the rate rises in a straight line, then it falls along
// half a cosine to a tenth of the highest:
//   step < warmup:   rate = highest * (step + 1) / (warmup + 1)
//   from there on:   done = (step - warmup) / (steps - warmup), at most 1
//                    rate = highest * (0.1 + 0.45 * (1 + cos(pi * done)))
// done goes from 0 to 1, so 1 + cos(pi * done) goes from 2 to 0. Past the end the rate stays at a tenth.
//
// Check it: make exercise N=10b
// Hint: int / int drops the fraction: 3 / 4 is 0. std::numbers::pi is in <numbers>.
#include <algorithm>
#include <cmath>
#include <numbers>

double rate_at(int step, double highest, int warmup, int steps) {
    if (step < warmup) return highest * (step + 1) / (warmup + 1);          // a double comes first: no fraction is lost
    double done = std::min(double(step - warmup) / (steps - warmup), 1.0);  // without the 1 the cosine would rise again
    return highest * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * done)));
}
