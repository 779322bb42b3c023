// Lesson 09: the learning rate of every hundredth step, with the defaults of stage 09.
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

int main() {
    Schedule schedule{.learning_rate = 5e-3, .warmup = 100, .steps = 3500, .decay = true};
    std::printf("step learning_rate\n");
    for (int step = 0; step <= 3500; step += 50) std::printf("%d %.5f\n", step, schedule.at(step));
}
