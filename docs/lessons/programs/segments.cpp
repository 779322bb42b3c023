// Lesson 16: the square root. Every k of a chain of 64 layers together, whose inside is no larger than what goes in.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "common/nn/nn.h"
#include "common/tensor/allocator.h"
using namespace babygpt;

int main() {
    const size_t n = 64;
    std::vector<Linear> layers;
    Rng rng(1);
    for (size_t i = 0; i < n; ++i) layers.emplace_back(64, 64, rng);
    Tensor x = Tensor::parameter({512, 64});
    fill_normal(x, 1, rng);
    const double one = double(x.count() * sizeof(real));
    auto step = [&](size_t k) {
        Tensor y = x;
        for (size_t first = 0, last; first < n; first = last) {
            last = std::min(first + k, n);
            auto segment = [&layers, first, last](Tensor z) {
                for (size_t i = first; i < last; ++i) z = tanh(layers[i](z));
                return z;
            };
            y = last < n ? checkpoint(segment, y) : segment(y);
        }
        sum(y).backward();
    };
    step(n);  // makes room for gradients
    std::printf("    k   n/k + k   arrays at the peak     MB     ms\n");
    for (size_t k = 1; k <= n; k *= 2) {
        std::vector<double> times;  // of the one thread; the middle one counts
        size_t before = live_bytes();
        reset_peak();
        for (int i = 0; i < 9; ++i) {
            std::clock_t begin = std::clock();
            step(k);
            times.push_back(1e3 * double(std::clock() - begin) / CLOCKS_PER_SEC);
        }
        std::ranges::sort(times);
        double bytes = double(peak_bytes() - before);
        std::printf("%5zu %9zu %20.1f %6.2f %6.1f\n", k, n / k + k, bytes / one, bytes / 1e6, times[4]);
    }
}
