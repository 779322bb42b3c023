// as shipped: slope_plain is 0, expected
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    auto stack = [](const std::vector<double>& w, double x,
                    double around) {  // forward first, then the product from above
        std::vector<double> inputs;
        for (double weight : w) {
            inputs.push_back(x);
            x = around * x + std::tanh(weight * x);
        }
        double slope = 1;
        for (size_t i = w.size(); i-- > 0;) slope *= around + w[i] * (1 - std::pow(std::tanh(w[i] * inputs[i]), 2));
        return slope;
    };
    auto still = [](const std::vector<double>& w, double x) {  // every slope at the x of the bottom
        double slope = 1;
        for (double weight : w) slope *= weight * (1 - std::pow(std::tanh(weight * x), 2));
        return slope;
    };
    std::vector<double> deep;
    for (real weight : random_numbers(30, 5)) deep.push_back(0.3 * weight);
    for (const std::vector<double>& w : {std::vector<double>{0.8}, {0.8, -0.5}, {1.2, 0.7, 0.4, -1.1}, deep}) {
        std::string layers = str("A stack of ", w.size(), w.size() == 1 ? " layer. " : " layers. ");
        expect_same(
            "slope_plain", slope_plain(w, 0.7), stack(w, 0.7, 0),
            layers + "Multiply the slopes w * (1 - tanh(w x)^2), each at the x that came into its layer.",
            {{layers + "All slopes are taken at the x of the bottom. x changes from layer to layer.", still(w, 0.7)}});
        expect_same("slope_residual", slope_residual(w, 0.7), stack(w, 0.7, 1),
                    layers + "A layer's slope is 1 + w * (1 - tanh(w x)^2): 1 for the way around.",
                    {{layers + "That is the slope without the way around: each layer's slope has a 1 more.",
                      stack(w, 0.7, 0)}});
    }
    return str("At depth 30 the slope is ", slope_plain(deep, 0.7), " without and ", slope_residual(deep, 0.7),
               " with a way around: without it the layers at the bottom hear nothing from the loss.");
}
