#include "common/write/cached_writer.h"

#include <chrono>
#include <cmath>
#include <cstdio>

namespace babygpt {

namespace {

void compare(const std::vector<Writer>& writers, const Options& o, int n) {
    std::vector<double> seconds(writers.size());
    double difference = 0;
    std::vector<int> context{0};
    Rng rng(o.seed, "sampling");
    for (int i = 0; i < n; ++i) {
        std::vector<real> expected;
        for (size_t way = 0; way < writers.size(); ++way) {
            auto begin = std::chrono::steady_clock::now();
            std::vector<real> logits = writers[way].next(context);
            seconds[way] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            if (way == 0) expected = logits;
            for (size_t v = 0; v < logits.size(); ++v)
                difference = std::max(difference, double(std::abs(logits[v] - expected[v])));
        }
        context.push_back(pick(expected, o, rng));
    }
    std::printf("%8d", n);
    for (double time : seconds) std::printf(" %12.0f", n / time);
    std::printf(" %8.1f %12.1e\n", seconds.front() / seconds.back(), difference);
    std::fflush(stdout);
}

}  // namespace

void compare_writers(const std::vector<Writer>& writers, const Options& o) {
    std::printf("%8s", "chars");
    for (const Writer& writer : writers) std::printf(" %12s", (writer.name + "/s").c_str());
    std::printf(" %8s %12s\n", "times", "difference");
    for (int n = 16; n < o.block_size; n *= 2) compare(writers, o, n);
    compare(writers, o, o.block_size);
    compare(writers, o, 2 * o.block_size);
    std::printf("past the block of %d the window slides, and every place is read again\n\n", o.block_size);
}

}  // namespace babygpt
