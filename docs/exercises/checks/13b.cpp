// as shipped: of the mask is 0, expected 1
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

constexpr int T = 5, C = 12, n_head = 3, H = C / n_head;

std::string check() {
    const std::vector<int> lengths{5, 3, 1};
    const int B = int(lengths.size());
    Mask mask = BertSelfAttention::hidden(lengths, T);
    expect(mask.shape == Shape{B, 1, 1, T} && mask.values.size() == size_t(B * T),
           str("The mask has the shape ", to_string(mask.shape), ", expected ", to_string({B, 1, 1, T}), "."),
           "It is broadcast to (B, n_head, T, T); the last axis is that of the keys.");
    for (int b = 0; b < B; ++b)
        for (int j = 0; j < T; ++j) {
            int found = mask.values[size_t(b * T + j)], expected = j >= lengths[size_t(b)];
            expect(found == expected,
                   str("A row of length ", lengths[size_t(b)], ": place ", j, " of the mask is ", found, ", expected ",
                       expected, "."),
                   std::ranges::equal(mask.values, padding(lengths, T).values)
                       ? "It is turned round: 1 is where something is hidden."
                       : "Places 0 to length - 1 are tokens, 0 in the mask; the rest is padding, 1.");
        }

    Rng rng(1);
    BertSelfAttention attention(C, n_head, rng);
    Tensor x = random_tensor({B, T, C}, 2, 2);
    // What the stage computes; other divisors, masks and heads are mistakes.
    auto sums = [&](const Tensor& rows, double divisor, const Mask& hidden, real fill = -INFINITY, int heads = n_head) {
        auto split = [&](const Tensor& y) { return reshape(y, {y.size(0), y.size(1), heads, -1}); };
        Tensor q = split(attention.query(rows)), k = split(attention.key(rows)), v = split(attention.value(rows));
        Tensor scores = masked_fill(einsum("bqhd,bkhd->bhqk", q, k) / divisor, hidden, fill);
        return reshape(einsum("bhqk,bkhd->bqhd", softmax(scores), v), rows.shape());
    };
    const double root = std::sqrt(double(H));
    const Mask right = !padding(lengths, T), none{};
    Mask askers{{B, 1, T, 1}, right.values};
    Tensor result = attention(x, lengths);
    expect(result.node && result.shape() == x.shape(), "The result has another shape than x, (B, T, C).",
           "Merge the heads at the end: reshape(..., x.shape()).");
    for (int b = 0; b < B; ++b) {
        const int length = lengths[size_t(b)];
        auto tokens = [&](const Tensor& y) { return slice(slice(y, 0, b, b + 1), 1, 0, length); };  // (1, length, C)
        std::vector<Known> known{
            {"The scores are not divided by sqrt(H).", tokens(sums(x, 1, right))},
            {"The scores are divided by H. It is the root of H.", tokens(sums(x, H, right))},
            {"The scores are divided by the root of C. Each head adds up H products.",
             tokens(sums(x, std::sqrt(double(C)), right))},
            {"It looks back only. BERT reads both ways: hide the padding and nothing else.",
             tokens(sums(x, root, right || !tril(T)))},
            {"The tokens are hidden and the padding is seen. masked_fill fills where a mask is true.",
             tokens(sums(x, root, !right))},
            {"It is one head of C numbers, not n_head of them.", tokens(sums(x, root, right, -INFINITY, 1))}};
        if (length < T) {
            known.push_back({"Padding is looked at: the mask has no effect.", tokens(sums(x, root, none))});
            known.push_back({"The padding's scores are 0, which is a score like others: e^0 is 1. Fill with -inf.",
                             tokens(sums(x, root, right, 0))});
            known.push_back(
                {"The mask hides the places that look. It must hide those that are looked at, the last axis.",
                 tokens(sums(x, root, askers))});
        }
        expect_same(str("a row of ", length, " tokens and ", T - length, " of padding, result"), tokens(result),
                    sums(tokens(x), root, none),
                    "At its tokens a row gives what it gives alone: softmax(q k^T / sqrt(H), padding hidden) v.",
                    known);
    }

    Tensor other(x.shape(), x.values());  // the same tokens, something else behind them
    for (int b = 0; b < B; ++b)
        for (int i = lengths[size_t(b)] * C; i < T * C; ++i) other.values()[size_t(b * T * C + i)] *= 100;
    Tensor after = attention(other, lengths);
    for (int b = 0; b < B; ++b)
        expect_same(str("row ", b, " with other padding"), slice(slice(after, 0, b, b + 1), 1, 0, lengths[size_t(b)]),
                    slice(slice(result, 0, b, b + 1), 1, 0, lengths[size_t(b)]),
                    "Padding still counts a little. Only -inf hides whatever the scores are.", {}, 1e-6);

    const std::vector<int> with_empty{4, 0, 2};
    Tensor empty = slice(attention(x, with_empty), 0, 1, 2);  // (1, T, C)
    expect_same("a row of length 0, result", empty, Tensor::zeros({1, T, C}),
                "Nothing is there to be looked at. softmax makes zeros of a row in which all is -inf.",
                {{"Where all is hidden by the same large number, all are alike again: softmax sees only differences. "
                  "Fill with -INFINITY.",
                  slice(sums(x, root, !padding(with_empty, T), -1e9), 0, 1, 2)}});
    expect_gradients(attention, attention(x, with_empty),
                     "The gradient must find its way from the result through q, k and v.");
    return "A row with padding is as good as alone, everybody looks both ways, and nothing is NaN.";
}
