// Lesson 12: how long a step takes, forward and back on one thread: 10 with fused attention, and 12 by its positions.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
namespace gpt {
#include "stages/10_gpt.cpp"
}
namespace relative {
#include "stages/12_relative.cpp"
}
#undef main
using namespace babygpt;

int main() {
    std::printf("%-20s %14s %14s\n", "a step, ms", "block 64", "block 128");
    const std::vector<std::string> names{"10_gpt", "absolute", "relative_key", "relative_key_query"};
    std::vector<std::vector<double>> medians(names.size());
    for (int T : {64, 128}) {
        const int B = 512 / T, V = 57;
        std::vector<std::unique_ptr<LanguageModel>> models;
        for (const std::string& name : names) {
            Options o{.block_size = T, .n_embd = 64, .n_head = 4, .n_layer = 3, .positions = name};
            Rng rng(1);
            if (name == "10_gpt")
                models.push_back(std::make_unique<gpt::Model>(o, V, rng));
            else
                models.push_back(std::make_unique<relative::Model>(o, V, rng));
        }
        Rng rng(2);
        Tokens ids(B, T);
        for (int& id : ids.ids) id = int(rng.below(V));
        std::vector<std::vector<double>> times(names.size());
        for (int i = 0; i < 41; ++i)  // in turns, so that a busy moment hits all
            for (size_t m = 0; m < models.size(); ++m) {
                auto begin = std::chrono::steady_clock::now();
                cross_entropy((*models[m])(ids), ids).backward();
                times[m].push_back(1e3 *
                                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
            }
        for (size_t m = 0; m < models.size(); ++m) {
            std::ranges::sort(times[m]);
            medians[m].push_back(times[m][times[m].size() / 2]);
        }
    }
    for (size_t m = 0; m < names.size(); ++m)
        std::printf("%-20s %8.1f %5.2f %8.1f %5.2f\n", names[m].c_str(), medians[m][0], medians[m][0] / medians[0][0],
                    medians[m][1], medians[m][1] / medians[0][1]);
}
