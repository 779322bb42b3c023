// as shipped: relative_scores(q, k, d)[0, 0, 0, 0] is
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int B = 2, T = 3, S = 5, n_head = 3, H = 4;
    Tensor q = random_tensor({B, T, n_head, H}, 1), k = random_tensor({B, S, n_head, H}, 2);
    Tensor d = random_tensor({T, S, H}, 3);
    // weights of the three parts
    auto expected = [&](double content, double query, double key) {
        Tensor scores = Tensor::zeros({B, n_head, T, S});
        auto at = [](const Tensor& x, int row, int c) {
            return double(std::as_const(x).values()[size_t(row * H + c)]);
        };
        size_t n = 0;
        for (int b = 0; b < B; ++b)
            for (int h = 0; h < n_head; ++h)
                for (int i = 0; i < T; ++i)
                    for (int j = 0; j < S; ++j, ++n)
                        for (int c = 0; c < H; ++c) {
                            double a = at(q, (b * T + i) * n_head + h, c), e = at(k, (b * S + j) * n_head + h, c);
                            double f = at(d, i * S + j, c);
                            scores.values()[n] += real(content * a * e + query * a * f + key * e * f);
                        }
        return scores;
    };
    expect_same(
        "relative_scores(q, k, d)", relative_scores(q, k, d), expected(0.5, 0.5, 0.5),
        "The three sums of products, all divided by sqrt(H).",
        {{"The distances are not in it yet, and nothing is divided by sqrt(H).", expected(1, 0, 0)},
         {"The distances are not in it yet.", expected(0.5, 0, 0)},
         {"The keys' part, k_j . d_ij, is missing.", expected(0.5, 0.5, 0)},
         {"The queries' part, q_i . d_ij, is missing.", expected(0.5, 0, 0.5)},
         {"Nothing is divided by sqrt(H).", expected(1, 1, 1)},
         {"Only the first part is divided by sqrt(H): the distances then count too much.", expected(0.5, 1, 1)}});
    return "What a character is and how far away it stands, in one score.";
}
