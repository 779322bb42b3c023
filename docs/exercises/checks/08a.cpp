// as shipped: All of y is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

namespace {

// Layer normalisation with a switch for each of the usual mistakes.
struct Variant {
    double less = 0;  // what is taken off C for the variance
    bool epsilon_outside = false, whole = false, centred = true, gain = true, bias = true, root = true;

    Numbers operator()(const Tensor& x, const Tensor& g, const Tensor& b) const {
        size_t C = size_t(x.size(-1)), n = whole ? x.count() : C;
        Numbers y = x;
        for (size_t start = 0; start < x.count(); start += n) {
            double mean = 0, variance = 0;
            for (size_t i = start; i < start + n; ++i) mean += x.values()[i] / double(n);
            for (size_t i = start; i < start + n; ++i)
                variance += std::pow(x.values()[i] - mean, 2) / (double(n) - less);
            double deviation = epsilon_outside ? std::sqrt(variance) + 1e-5 : std::sqrt(variance + 1e-5);
            if (!root) deviation *= deviation;
            for (size_t i = start; i < start + n; ++i)
                y.values[i] = (x.values()[i] - (centred ? mean : 0)) / deviation * (gain ? g.values()[i % C] : 1) +
                              (bias ? b.values()[i % C] : 0);
        }
        return y;
    }
};

}  // namespace

std::string check() {
    Tensor gain = random_tensor({6}, 1), bias = random_tensor({6}, 2);
    for (const Shape& shape : {Shape{4, 6}, Shape{2, 3, 6}}) {
        Tensor x = random_tensor(shape, 3, 2) + random_tensor({6}, 4);
        std::vector<Known> known{
            {"It divides by C - 1 in the variance. Here it is C.", Variant{.less = 1}(x, gain, bias)},
            {"One mean and one variance for all rows. Every row has its own.", Variant{.whole = true}(x, gain, bias)},
            {"The mean is not taken off.", Variant{.centred = false}(x, gain, bias)},
            {"gain and bias are missing: y = h * gain + bias.", Variant{.gain = false, .bias = false}(x, gain, bias)},
            {"The bias is missing: y = h * gain + bias.", Variant{.bias = false}(x, gain, bias)},
            {"The gain is missing: y = h * gain + bias.", Variant{.gain = false}(x, gain, bias)},
            {"It divides by the variance. Take the root.", Variant{.root = false}(x, gain, bias)}};
        expect_same("y", normalise(x, gain, bias), layer_norm(x, gain, bias),
                    "Each row, that is the last axis, to mean 0 and deviation 1; then times gain, plus bias.", known);
    }
    Tensor even({2, 6}, {3, 3, 3, 3, 3, 3, real(3.001), 3, 3, 3, real(2.999), 3});
    expect_same("y", normalise(even, gain, bias), layer_norm(even, gain, bias),
                "Row 0 has six equal numbers, row 1 nearly: what keeps you from dividing by 0?",
                {{"1e-5 is added to the deviation. It is added to the variance, inside the root.",
                  Variant{.epsilon_outside = true}(even, gain, bias)}});
    return "It computes what the core's layer_norm does, also for a row of equal numbers.";
}
