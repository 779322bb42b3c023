// as shipped: A change of x at place 0 does not reach place 2
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int n_head = 3, T = 6, C = 12;
    auto self = [&](const Tensor& x) { return attend(x, x, x, n_head); };
    Tensor x = random_tensor({1, T, C}, 1), other(x.shape(), x.values());
    for (int c = 0; c < C; ++c) other.values()[size_t(c)] += 1;
    Tensor before = self(x), after = self(other);
    for (int place = 0; place < T; ++place)
        expect(!alike(Numbers({C}, before.values().subspan(size_t(place * C), C)),
                      Numbers({C}, after.values().subspan(size_t(place * C), C))),
               str("A change of x at place 0 does not reach place ", place, "."),
               "Every place sees itself and all before it. Which numbers does row q of a head hold: those of place q?");
    expect_causal(self, {2, T, C}, "A place sees itself and those before it.");
    Tensor q = random_tensor({2, T, C}, 1), k = random_tensor({2, T, C}, 2), v = random_tensor({2, T, C}, 3);
    auto apart = [&](const Tensor& y) { return reshape(y, {2, T, n_head, C / n_head}); };
    Tensor scores = masked_fill(einsum("bqhd,bkhd->bhqk", apart(q), apart(k)) / 2, !tril(T), -INFINITY);
    Tensor right = einsum("bhqk,bkhd->bqhd", softmax(scores), apart(v));
    expect_same("attend(q, k, v)", attend(q, k, v, n_head), reshape(right, {2, T, C}),
                "Each head has the numbers h * H to (h + 1) * H of every place, and puts its result there again.");
    return "Every head sees its own numbers of every place.";
}
