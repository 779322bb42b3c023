// as shipped: the result at a place is the sum of its weights
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int T = 5, C = 6, H = 4;
    Rng rng(1);
    Head head(C, H, rng);
    Tensor x = random_tensor({2, T, C}, 2, 2);
    for (size_t i = 0; i < x.count(); i += size_t(C)) x.values()[i] = 1;  // so that a layer can make 1 of every x
    Tensor ones = Tensor::zeros({2, T, H}), values(head.value.weight.shape(), head.value.weight.values());
    fill(ones, 1);
    fill(head.value.weight, 0);
    for (size_t h = 0; h < size_t(H); ++h) head.value.weight.values()[h * size_t(C)] = 1;
    expect_same(
        "result", head(x), ones,
        "In this check every value v is 1, so the result at a place is the sum of its weights. A row of softmax "
        "sums to 1: what happens to it afterwards?");
    std::ranges::copy(values.values(), head.value.weight.values().begin());
    expect_causal([&](const Tensor& other) { return head(other); }, {2, T, C},
                  "The weights sum to 1, but now somebody looks ahead.");
    Tensor q = head.query(x), k = head.key(x), v = head.value(x);
    expect_same("head(x)", head(x), head_sums(q, k, v, std::sqrt(double(H)), !tril(T)),
                "The weights sum to 1, and nobody looks ahead. But the scores have changed.");
    return "Every place's weights sum to 1, and all of it goes to places that may be seen.";
}
