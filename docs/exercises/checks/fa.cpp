// as shipped: c still holds what it held before
#include <chrono>

#include "docs/exercises/check.h"
#pragma GCC optimize("O3")  // what is measured here should be built as the core is
#include EXERCISE
using namespace exercise;

namespace {

using Matmul = void (*)(const real*, const real*, real*, Sizes);

double seconds(Matmul matmul_of, const std::vector<real>& a, const std::vector<real>& b, std::vector<real>& c,
               Sizes s) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
        auto begin = std::chrono::steady_clock::now();
        matmul_of(a.data(), b.data(), c.data(), s);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

}  // namespace

std::string check() {
    for (Sizes s : {Sizes{2, 3, 4}, Sizes{5, 1, 3}, Sizes{33, 20, 17}}) {
        std::vector<real> a = random_numbers(s.M * s.K, 1), b = random_numbers(s.K * s.N, 2), c(s.M * s.N, 9);
        int M = int(s.M), K = int(s.K), N = int(s.N);
        Tensor product = matmul(Tensor({M, K}, a), Tensor({K, N}, b));
        std::vector<real> right(product.values().begin(), product.values().end());
        fast_matmul(a.data(), b.data(), c.data(), s);
        Shape shape{M, N};
        std::vector<real> on_top = right, untouched(c.size(), 9);
        for (real& number : on_top) number += 9;
        expect_same("c", {shape, c}, {shape, right}, "c[i, j] = sum over k of a[i, k] * b[k, j], whatever the order.",
                    {{"c still holds what it held before.", {shape, untouched}},
                     {"The sums start at what c held before. Set c to 0 first.", {shape, on_top}},
                     {"All of c is 0: the products are still missing.", {shape, std::vector<real>(c.size(), 0)}}});
    }
    const Sizes s{320, 320, 512};
    std::vector<real> a = random_numbers(s.M * s.K, 1), b = random_numbers(s.K * s.N, 2), c(s.M * s.N, 0);
    double slow = seconds(slow_matmul, a, b, c, s), fast = seconds(fast_matmul, a, b, c, s);
    char text[200];
    std::snprintf(text, sizeof text, "The same result. slow_matmul takes %.1f ms, yours %.1f ms: %.1f times as fast.%s",
                  1e3 * slow, 1e3 * fast, slow / fast,
                  slow / fast < 1.3 ? " Does your innermost loop walk along rows only?" : "");
    return text;
}
