// as shipped: split_heads(x) has the shape (2,5,12)
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int B = 2, T = 5, n_head = 3, H = 4;
    Tensor x = random_tensor({B, T, n_head * H}, 1), apart = reshape(x, {B, T, n_head, H});
    expect_same(
        "split_heads(x)", split_heads(x, n_head), transpose(apart, 1, 2),
        "See x as (B, T, n_head, H), then exchange the axes 1 and 2.",
        {{"It has the right shape and the wrong numbers: (B, T, C) can't be seen as (B, n_head, T, H), the heads "
          "lie inside a place.",
          reshape(x, {B, n_head, T, H})},
         {"The axes 1 and 2 are not exchanged yet.", apart}});
    expect_same("merge_heads(split_heads(x))", merge_heads(transpose(apart, 1, 2)), x,
                "Exchange the axes 1 and 2 again, then see the last two as one.",
                {{"The axes are not exchanged before the heads are put side by side.",
                  reshape(transpose(apart, 1, 2), {B, T, n_head * H})}});
    Tensor q = random_tensor({B, T, n_head * H}, 2), k = random_tensor({B, T, n_head * H}, 3);
    auto expected = [&](double divisor, const Mask& mask) {
        auto heads = [&](const Tensor& y) { return reshape(y, {B, T, n_head, H}); };
        Tensor scores = masked_fill(einsum("bqhd,bkhd->bhqk", heads(q), heads(k)) / divisor, mask, -INFINITY);
        return reshape(einsum("bhqk,bkhd->bqhd", softmax(scores), heads(x)), x.shape());
    };
    expect_same("attend(q, k, v)", attend(q, k, x, n_head), expected(2, !tril(T)),
                "softmax of the masked scores q k^T / sqrt(H), times v, head by head.",
                {{"It is v itself: nothing is attended to yet.", x},
                 {"The scores are divided by sqrt(C). A head has H numbers.", expected(std::sqrt(12), !tril(T))},
                 {"The scores are not divided by sqrt(H).", expected(1, !tril(T))},
                 {"Every place sees the ones after it.", expected(2, no_mask(T))},
                 {"The mask hides what is behind and shows what is ahead.", expected(2, tril(T))}});
    return "The same numbers as einsum's, by moving an axis.";
}
