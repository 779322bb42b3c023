#include "common/nn/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace babygpt {

double Schedule::at(int step) const {
    if (step < warmup) return learning_rate * (step + 1) / (warmup + 1);
    if (!decay || steps <= warmup) return learning_rate;
    double done = double(step - warmup) / (steps - warmup);
    return learning_rate * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * std::min(done, 1.0))));
}

}  // namespace babygpt
