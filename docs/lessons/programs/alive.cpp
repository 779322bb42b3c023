// Lesson 16: how many bytes of arrays are alive in the course of a step, beyond parameters and gradients. A second
// thread looks while the first one works, by the first one's own clock: what else the machine does is no part of it.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <thread>

#include "common/babygpt.h"
#include "common/tensor/allocator.h"
#define main stage_main
#include "stages/16_memory.cpp"
#undef main

struct Sample {
    double seconds, megabytes;
};

std::vector<Sample> watch_a_step(int checkpoint) {
    BertConfig config{.vocab_size = 64,
                      .hidden_size = 64,
                      .num_hidden_layers = 12,
                      .num_attention_heads = 4,
                      .intermediate_size = 256,
                      .gradient_checkpointing = checkpoint};
    Rng rng(1);
    Model model(config, rng);
    Tokens ids(4, 128);
    for (int& id : ids.ids) id = 1 + int(rng.below(63));
    auto step = [&] {
        for (Module::Parameter& parameter : model.parameters) parameter.tensor.clear_grad();
        DropoutScope training(rng);
        cross_entropy(model({.input_ids = ids}).prediction_logits, ids).backward();
    };
    step();  // makes room for the parameters' gradients
    clockid_t clock;
    pthread_getcpuclockid(pthread_self(), &clock);
    auto now = [&] {
        timespec time;
        clock_gettime(clock, &time);
        return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
    };
    std::vector<std::vector<Sample>> steps(9);
    for (std::vector<Sample>& samples : steps) {
        size_t before = live_bytes();
        double begin = now();
        std::atomic<bool> done = false;
        std::thread watcher([&] {
            while (!done) {
                samples.push_back({now() - begin, (double(live_bytes()) - double(before)) / 1e6});
                std::this_thread::sleep_for(std::chrono::microseconds(50));
            }
        });
        step();
        done = true;
        watcher.join();
        samples.push_back({now() - begin, 0});
    }
    std::ranges::sort(steps, {}, [](const auto& samples) { return samples.back().seconds; });
    return steps[4];  // the one in the middle, by its time
}

int main() {
    const std::vector<int> ways{0, 4, 1};
    std::vector<std::vector<Sample>> of;
    for (int k : ways) of.push_back(watch_a_step(k));
    double whole = of[0].back().seconds, longest = 0;
    for (const auto& samples : of) longest = std::max(longest, samples.back().seconds / whole);
    std::printf("time plain every_4th every_one\n");  // time: 1 is a step of the plain way
    std::vector<size_t> at(ways.size());
    for (double time = 0; time <= longest + 0.02; time += 0.02) {
        std::printf("%.2f", time);
        for (size_t w = 0; w < ways.size(); ++w) {
            double most = at[w] ? of[w][at[w] - 1].megabytes : 0;  // in this fiftieth, which may have no sample
            for (; at[w] < of[w].size() && of[w][at[w]].seconds <= time * whole; ++at[w])
                most = std::max(most, of[w][at[w]].megabytes);
            std::printf(" %.2f", most);
        }
        std::printf("\n");
    }
}
