// as shipped: the slope of 1 layers with k = 1 is 1
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    for (size_t n : {1, 4, 9, 10, 16})
        for (size_t k : {1, 2, 3, 4, 7, 16}) {
            size_t forwards = 0, backwards = 0;
            std::vector<Layer> layers;
            double x = 0.3, expected = 1;
            for (size_t i = 0; i < n; ++i) {
                double a = 1 + 0.1 * double(i), now = x;
                layers.push_back({[&, a](double in) { return ++forwards, std::sin(a * in); },
                                  [&, a](double in, double dy) { return ++backwards, a * std::cos(a * in) * dy; }});
                expected *= a * std::cos(a * now);
                x = std::sin(a * now);
            }
            Kept kept;
            std::string name = str(n, " layers with k = ", k);
            double found = slope(layers, 0.3, k, kept);
            expect_same(
                "the slope of " + name, found, expected,
                "Each layer's backward takes the number that went into that layer, and the gradient from behind it.",
                {{"No gradient was passed back yet.", 1.0}});
            expect(backwards == n, str(name, ": backward was called ", backwards, " times"), "Once for each layer.");
            size_t most = (n + k - 1) / k + std::min(k, n) - 1;
            expect(kept.most <= most, str(name, ": ", kept.most, " numbers were kept at once, not ", most),
                   "Keep only inputs 0, k, 2k, ... on the way forward, and drop an input as soon as it was used.");
            expect(kept.most >= (n + k - 1) / k, str(name, ": at most ", kept.most, " numbers were kept at once"),
                   "What stands at the beginning of a segment is kept in `kept`, which counts, until the way back.");
            expect(forwards <= 2 * n, str(name, ": forward was called ", forwards, " times"),
                   "Twice for each layer is enough: start a segment from its own kept input, not from the beginning.");
            expect(kept.inputs.empty(), str(name, ": ", kept.inputs.size(), " numbers are still kept at the end"),
                   "Drop every input when the gradient has passed.");
        }
    return "The same slopes; 16 layers keep 7 numbers with k = 4, where all at once keep 16.";
}
