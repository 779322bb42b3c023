// as shipped: A change of x at place 1 changes the result at place 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int T = 5, C = 6, H = 4;
    Rng rng(1);
    Head head(C, H, rng);
    expect_causal(
        [&](const Tensor& x) { return head(x); }, {2, T, C},
        "What stands at the next place is what is to be guessed. Print the mask for T = 3: which pairs i, j are "
        "hidden, and which should be?");
    Tensor x = random_tensor({2, T, C}, 2, 2);
    Tensor q = head.query(x), k = head.key(x), v = head.value(x);
    expect_same("head(x)", head(x), head_sums(q, k, v, std::sqrt(double(H)), !tril(T)),
                "Nobody looks ahead any more, but something else has changed. A place sees itself and all before it.");
    return "A place sees itself and what came before, and nothing ahead.";
}
