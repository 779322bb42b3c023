// as shipped: All of scores is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    Tensor Q = random_parameter({2, 5, 3, 4}, 1), K = random_parameter({2, 5, 3, 4}, 2);
    Tensor right = einsum("bqhd,bkhd->bhqk", Q, K), dscores = random_tensor({2, 3, 5, 5}, 3);
    expect_same("scores", scores(Q, K), right, "scores[b, h, q, k] adds up Q[b, q, h, d] * K[b, k, h, d] over d.",
                {{"All of scores is 0: nothing is added up yet.", Tensor::zeros({2, 3, 5, 5})},
                 {"q and k are exchanged: the row is the place that asks.", transpose(right)},
                 {"The heads are mixed: every head's numbers are added up. h is for each head on its own.",
                  einsum("bqd,bhkd->bhqk", sum(Q, 2), transpose(K, 1, 2))}});
    Tensor dQ = core_gradients([&] { return einsum("bqhd,bkhd->bhqk", Q, K); }, {Q}, dscores)[0];
    expect_same(
        "dQ", scores_pullback(dscores, K), dQ, "dQ[b, q, h, d] adds up dscores[b, h, q, k] * K[b, k, h, d] over k.",
        {{"All of dQ is 0: nothing is added up yet.", Tensor::zeros({2, 5, 3, 4})},
         {"q and k are exchanged in dscores: the row is the place that asks.", einsum("bhkq,bkhd->bqhd", dscores, K)}});
    return "Both einsums are the core's, number by number.";
}
