// as shipped: It is a straight line
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int C = 6;
    Options o{.n_embd = C};
    Rng rng(1);
    FeedForward f(o, rng);
    NoGrad evaluation;
    Tensor x = random_tensor({2, 3, C}, 2), z = random_tensor({2, 3, C}, 3), nothing = Tensor::zeros({2, 3, C});
    Tensor together = f(x + z), apart = f(x) + f(z) - f(nothing);
    expect(!alike(together, apart),
           str("It is a straight line: f(x + z) = f(x) + f(z) - f(0) at every place tried; the first number is ",
               together.values()[0], " either way."),
           "A network with ReLU has corners. Print the smallest number of h just before down: how can it be below 0?");
    expect_same("f(x)", f(x), f.down(relu(f.up(x))), "It bends now, but not as it should: y = down(relu(up(x))).",
                {{"ReLU stands at the end. It belongs between the two layers.", relu(f.down(f.up(x)))}});
    return "The network bends: f(x + z) is no longer f(x) + f(z) - f(0).";
}
