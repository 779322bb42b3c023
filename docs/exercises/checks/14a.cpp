// as shipped: All of result is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int B = 3, T = 4, S = 6, C = 5, H = 4;
    Rng rng(1);
    CrossHead head(C, H, rng);
    Tensor x = random_tensor({B, T, C}, 1), read = random_tensor({B, S, C}, 2);
    Mask seen = padding({6, 4, 1}, S);
    seen.shape = {B, 1, S};
    auto sums = [&](const Tensor& from, const Tensor& k, const Tensor& v, double divisor, const Mask& hidden) {
        Tensor scores = matmul(head.query(from), transpose(k)) / divisor;
        return matmul(softmax(masked_fill(scores, hidden, -INFINITY)), v);
    };
    NoGrad evaluation;
    Tensor k = head.key(read), v = head.value(read);
    expect_same("result", head(x, read, seen), sums(x, k, v, std::sqrt(H), !seen),
                "Queries are made of x, keys and values of what was read.",
                {{"Padding is looked at: fill the scores where nothing was read.", sums(x, k, v, std::sqrt(H), {})},
                 {"Only padding is looked at: fill where it is *not* seen.", sums(x, k, v, std::sqrt(H), seen)},
                 {"The scores are not divided by sqrt(H).", sums(x, k, v, 1, !seen)}});
    Tensor other = Tensor(read.shape(), std::as_const(read).values());
    for (int b = 0; b < B; ++b)  // other numbers where padding is
        for (int s = 0; s < S; ++s)
            if (!seen.values[size_t(b * S + s)])
                for (int c = 0; c < C; ++c) other.values()[size_t((b * S + s) * C + c)] = 9;
    expect_same("result with other padding", head(x, other, seen), head(x, read, seen), "Padding must not matter.");
    return "Each place that is written looks at the text that was read, and at none of its padding.";
}
