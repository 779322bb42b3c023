// as shipped: There are 0 heads, expected 3
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int C = 12;
    Options o{.n_embd = C, .n_head = 3};
    Rng rng(1), another(2);
    MultiHeadAttention attention(o, rng);
    expect(attention.heads.size() == 3, str("There are ", attention.heads.size(), " heads, expected 3."),
           "The constructor makes o.n_head of them.");
    Head one(C, C / 3, another);
    for (const Head& head : attention.heads)
        expect(head.key.weight.shape() == one.key.weight.shape(),
               str("A head has a key weight of ", to_string(head.key.weight.shape()), ", expected ",
                   to_string(one.key.weight.shape()), "."),
               "head_size = n_embd / n_head: side by side the heads are as wide as x.");
    expect_parameters(attention, {registered("heads.0", one), registered("heads.1", one), registered("heads.2", one)});
    expect(!alike(attention.heads[0].key.weight, attention.heads[1].key.weight),
           "Head 0 and head 1 have the same weights.",
           "A copy of a head shares its weights. Make each one on its own.");

    Tensor x = random_tensor({2, 5, C}, 3);
    std::vector<Tensor> results;
    for (const Head& head : attention.heads) results.push_back(head(x));
    expect_same("attention(x)", attention(x), concat(results), "concat(heads[0](x), heads[1](x), heads[2](x)).",
                {{"It is x itself: the heads are not asked yet.", x},
                 {"The heads are in reverse order.", concat({results[2], results[1], results[0]})},
                 {"The first head stands there three times.", concat({results[0], results[0], results[0]})}});
    expect_gradients(attention, attention(x), "Does the result of every head go into concat?");
    return "Three heads with weights of their own, side by side, all registered.";
}
