// as shipped: with p = 0.5, dx[
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const Row x{0.4, -1.1, 0.7, 2.0, -0.3, 0.9, 1.4, -0.8};
    const std::vector<double> weights{0.8, -1.2, 0.5};
    for (double p : {0.0, 0.5}) {
        Rng stream(3), same(3);
        std::vector<ForgetfulLayer> layers;
        for (double weight : weights) layers.push_back({weight, p, stream});
        Row y = x, expected = x, right_dx(x.size(), 1);
        std::vector<Row> masks, inputs;
        for (double weight : weights) {
            inputs.push_back(expected);
            masks.emplace_back();
            for (double& number : expected) {
                masks.back().push_back(same.uniform() < p ? 0 : 1 / (1 - p));
                number = std::tanh(weight * number) * masks.back().back();
            }
        }
        for (ForgetfulLayer& layer : layers) y = layer.forward(y);
        std::string with = str("with p = ", p, ", ");
        expect_same(with + "y", y, expected, "The way forward was right as it was.");
        uint64_t stands = stream.state;
        Row dx(x.size(), 1), weight_gradients(weights.size()), right(weights.size());
        for (size_t l = weights.size(); l-- > 0;) {
            dx = layers[l].backward(dx);
            weight_gradients[l] = layers[l].weight_gradient;
            for (size_t i = 0; i < x.size(); ++i) {
                double h = std::tanh(weights[l] * inputs[l][i]), slope = right_dx[i] * masks[l][i] * (1 - h * h);
                right[l] += slope * inputs[l][i];
                right_dx[i] = slope * weights[l];
            }
        }
        expect_same(with + "dx", dx, right_dx, "What was dropped on the way forward must be dropped on the way back.");
        expect_same(with + "weight gradients", weight_gradients, right, "These follow from the same mask.");
        expect(p == 0 || stream.state == stands, with + "the stream has gone on during backward",
               "The next step's masks must not depend on what was computed again: draw from a copy.");
    }
    return "The same dropout masks on the way back, and the stream stands where it stood.";
}
