// Lesson 10: the learning rate of every fiftieth step of a trained stage 10.
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

int main() {
    return guarded("schedule", [] {
        Options o = load_model("runs/10_gpt/model.safetensors", {.stage = "10_gpt"}).options;
        Schedule schedule{.learning_rate = o.learning_rate, .warmup = o.warmup, .steps = o.steps, .decay = o.decay};
        std::printf("step learning_rate\n");
        for (int step = 0; step <= o.steps; step += 50) std::printf("%d %.5f\n", step, schedule.at(step));
    });
}
