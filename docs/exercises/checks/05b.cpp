// as shipped: There is no parameter "up.weight"
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int C = 6;
    Options o{.n_embd = C};
    Rng rng(1);
    FeedForward f(o, rng);
    expect_parameters(
        f, {{{"up.weight", {4 * C, C}}, {"up.bias", {4 * C}}, {"down.weight", {C, 4 * C}}, {"down.bias", {C}}}});
    Tensor x = random_tensor({2, 3, C}, 2);
    expect_same("feed_forward(x)", f(x), f.down(relu(f.up(x))), "y = down(relu(up(x))).",
                {{"It is x itself.", x},
                 {"ReLU is missing: two linear layers in a row are one linear layer.", f.down(f.up(x))},
                 {"ReLU stands at the end. It belongs between the two.", relu(f.down(f.up(x)))},
                 {"ReLU stands at both. The result may be negative: it belongs between the two only.",
                  relu(f.down(relu(f.up(x))))},
                 {"ReLU stands before up. It belongs between the two.", f.down(f.up(relu(x)))}});
    expect_gradients(f, f(x), "Does x go through up and through down?");
    return "It computes what stage 05's feed-forward does, and both layers are registered.";
}
