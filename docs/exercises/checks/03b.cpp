// as shipped: All of head(x) is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int B = 2, T = 5, C = 6, H = 4;
    Rng rng(1);
    Head head(C, H, rng);
    Tensor x = random_tensor({B, T, C}, 2, 2);
    Tensor q = head.query(x), k = head.key(x), v = head.value(x);
    const double root = std::sqrt(double(H));
    Tensor scores = masked_fill(matmul(q, transpose(k)) / root, !tril(T), -INFINITY);
    expect_same(
        "head(x)", head(x), head_sums(q, k, v, root, !tril(T)), "result = softmax(masked q k^T / sqrt(H)) v.",
        {{"The scores are not divided by sqrt(H).", head_sums(q, k, v, 1, !tril(T))},
         {"The scores are divided by H. It is the root of H.", head_sums(q, k, v, H, !tril(T))},
         {"The scores are divided by the root of n_embd. H is the head's own size, k.size(-1).",
          head_sums(q, k, v, std::sqrt(double(C)), !tril(T))},
         {"The scores are multiplied by sqrt(H). Divide.", head_sums(q, k, v, 1 / root, !tril(T))},
         {"There is no mask: every place sees those after it.", head_sums(q, k, v, root, no_mask(T))},
         {"The mask comes after softmax: then a row's weights no longer sum to 1. Hide first.",
          matmul(masked_fill(softmax(matmul(q, transpose(k)) / root), !tril(T), 0), v)},
         {"It is k q^T: each key asks, and each query answers. It should be q k^T.",
          head_sums(k, q, v, root, !tril(T))},
         {"Softmax has gone over the columns. Each row is to sum to 1: softmax works on the last axis as it is.",
          matmul(transpose(softmax(transpose(scores))), v)},
         {"There is no softmax.", matmul(masked_fill(matmul(q, transpose(k)) / root, !tril(T), 0), v)},
         {"The weights are applied to k. A place takes what the others say, which is v.",
          head_sums(q, k, k, root, !tril(T))}});
    expect_causal([&](const Tensor& y) { return head(y); }, {1, T, C}, "Nobody may look ahead.");
    expect_gradients(head, head(x), "The gradient must find its way from the result through q, k and v.");
    return "It computes what stage 03's head does, nobody looks ahead, and all three layers get a gradient.";
}
