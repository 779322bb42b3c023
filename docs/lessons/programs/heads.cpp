// Lesson 09: how long attention takes, forward and back on one thread: head by head (08), by einsum (09), fused (10).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "common/babygpt.h"
#define main stage_main
namespace by_head {
#include "stages/08_layernorm.cpp"
}
namespace all_heads {
#include "stages/09_heads.cpp"
}
namespace fused {
#include "stages/10_gpt.cpp"
}
#undef main
using namespace babygpt;

template <class Attention>
double seconds(const Attention& attention, const Tensor& x) {
    auto begin = std::chrono::steady_clock::now();
    sum(attention(x)).backward();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> numbers) {
    std::nth_element(numbers.begin(), numbers.begin() + long(numbers.size() / 2), numbers.end());
    return numbers[numbers.size() / 2];
}

void measure(int B, int T, int C, int n_head) {
    Options o{.n_embd = C, .n_head = n_head};
    Rng rng(1, "initialisation");
    by_head::MultiHeadAttention one_by_one(o, rng);
    all_heads::MultiHeadAttention together(o, rng);
    fused::MultiHeadAttention in_one(o, rng);
    Tensor x = Tensor::parameter({B, T, C});
    fill_normal(x, 1, rng);
    std::vector<double> times[3];
    for (int i = 0; i < 41; ++i) {  // in turns, so that a busy moment hits all three
        times[0].push_back(seconds(one_by_one, x));
        times[1].push_back(seconds(together, x));
        times[2].push_back(seconds(in_one, x));
    }
    double a = median(times[0]), b = median(times[1]), c = median(times[2]);
    std::printf("%-14s %8d %8d %8d %8d %8.3f %8.3f %8.3f %8.1f %8.1f\n", str(B, "x", T, "x", C, "/", n_head).c_str(), B,
                T, C, n_head, 1e3 * a, 1e3 * b, 1e3 * c, a / b, b / c);
}

int main() {
    std::printf("%-14s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "attention, ms", "B", "T", "C", "heads", "08", "09",
                "10", "08/09", "09/10");
    for (auto [B, T, C, heads] : std::initializer_list<std::tuple<int, int, int, int>>{
             {32, 8, 32, 4}, {32, 32, 64, 4}, {32, 32, 64, 16}, {12, 64, 128, 4}, {12, 128, 96, 4}, {4, 256, 384, 6}})
        measure(B, T, C, heads);
}
