// as shipped: Head 1 gives the same as head 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int C = 12, H = 4;
    Options o{.n_embd = C, .n_head = 3};
    Rng rng(1), another(2);
    MultiHeadAttention attention(o, rng);
    Tensor x = random_tensor({2, 5, C}, 3), y = attention(x);
    expect(y.shape() == x.shape(), "The result has the shape " + to_string(y.shape()) + ", expected (2,5,12).",
           "Three heads of 4 numbers each, side by side.");
    for (int head : {1, 2}) {
        bool same = true;
        for (size_t i = 0; i < y.count(); i += size_t(C))
            for (size_t h = 0; h < size_t(H); ++h)
                same = same && y.values()[i + h] == y.values()[i + size_t(head * H) + h];
        expect(
            !same,
            str("Head ", head, " gives the same as head 0 at every place: y[0, 0, 0] and y[0, 0, ", head * H,
                "] are both ", y.values()[0], "."),
            "If they start equal and get equal gradients they stay equal. Where do the heads get their weights from?");
    }
    std::vector<Tensor> before;
    for (const auto& parameter : attention.heads[1].parameters)
        before.emplace_back(parameter.tensor.shape(), parameter.tensor.values());
    for (const auto& parameter : attention.heads[0].parameters) fill(parameter.tensor, 0);
    for (size_t i = 0; i < before.size(); ++i)
        expect(alike(attention.heads[1].parameters[i].tensor, before[i]),
               "When head 0 changes, head 1 changes with it.",
               "They share their weights. A copy of a layer is a second handle to the same numbers.");
    Head one(C, H, another);
    expect_parameters(attention, {registered("heads.0", one), registered("heads.1", one), registered("heads.2", one)});
    return "Three heads with weights of their own.";
}
