// as shipped: 2 new places after 3 kept ones, result[0, 0, 0] is
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int C = 6, H = 4, max = 8, T = 6;
    Tensor x = random_tensor({2, T, C}, 1);
    auto fresh = [&] {
        Rng rng(2);
        return RelativeHead(C, H, max, rng);
    };
    NoGrad evaluation;
    RelativeHead head = fresh();
    Tensor q = head.query(x), k = head.key(x), d = Tensor::zeros({T, T, H});
    for (int i = 0; i < T; ++i)
        for (int j = 0; j < T; ++j)
            std::copy_n(std::as_const(head.distance_embedding.weight).values().begin() + (i - j + max - 1) * H, H,
                        d.values().begin() + (i * T + j) * H);
    Tensor scores = (matmul(q, transpose(k)) + einsum("bqd,qkd->bqk", q, d)) / std::sqrt(H);
    Tensor whole = matmul(softmax(masked_fill(scores, !tril(T), -INFINITY)), head.value(x));
    for (std::vector<int> parts : {std::vector{6}, {1, 1, 1, 1, 1, 1}, {3, 2, 1}, {2, 4}, {1, 3, 2}, {4, 1, 1}}) {
        RelativeHead reader = fresh();
        int first = 0;
        for (int count : parts) {
            std::string name = str(count, " new places after ", first, " kept ones, result");
            std::string hint =
                "Each new place stands at a place of its own. Which one is it, for row i of the new ones?";
            if (first == 0 || count == 1) hint = "At once, and one by one, it was right before.";
            expect_same(name, reader(slice(x, 1, first, first + count)), slice(whole, 1, first, first + count), hint);
            first += count;
        }
    }
    return "However the text is cut, each place knows how far it stands from the others.";
}
