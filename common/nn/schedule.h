// The learning rate's schedule.
#pragma once

namespace babygpt {

// The learning rate at a step: rises linearly over `warmup` steps, then, if it decays, falls along a cosine to a tenth.
struct Schedule {
    double learning_rate;
    int warmup = 0, steps = 0;
    bool decay = false;
    double at(int step) const;
};

}  // namespace babygpt
