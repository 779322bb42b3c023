// as shipped: nothing of x is left
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int C = 6;
    Tensor gain = random_tensor({C}, 1), bias = random_tensor({C}, 2);
    Tensor one = random_tensor({1, 1, C}, 3), other = random_tensor({1, 1, C}, 4);
    Tensor y = normalise(one, gain, bias);
    expect(!alike(y, normalise(other, gain, bias)),
           str("With a single place, x (1,1,6), two quite different x give the same y (", y.values()[0], ", ",
               y.values()[1], ", ...): nothing of x is left."),
           "Which numbers does each mean go over? With one place, how many are that?");
    expect_causal([&](const Tensor& x) { return normalise(x, gain, bias); }, {2, 4, C},
                  "Normalising must not look at other places, least of all at later ones.");
    Tensor x = random_tensor({2, 4, C}, 5, 3);
    expect_same("y", normalise(x, gain, bias), layer_norm(x, gain, bias),
                "Each place for itself: its C numbers to mean 0 and deviation 1.");
    Tensor even({1, 1, C}, {3, 3, 3, 3, 3, 3});
    expect_same("y", normalise(even, gain, bias), layer_norm(even, gain, bias),
                "Six equal numbers: the 1e-5 keeps them from being divided by 0.");
    return "Each place is normalised for itself.";
}
