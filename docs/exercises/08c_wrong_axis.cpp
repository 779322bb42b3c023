// Bug hunt 08c: it trains well and cannot write a word.
//
// Layer normalisation by hand, for x (B, T, C): mean 0 and deviation 1, then a gain and a bias.
//
// The symptom: in training the loss is lower than it should be. Writing goes wrong at once: with one character as its
// context the model says the same whatever the character is.
//
// Check it: make exercise N=08c
#include <cmath>

#include "common/tensor/tensor.h"
using namespace babygpt;

Tensor normalise(const Tensor& x, const Tensor& gain, const Tensor& bias) {
    const int B = x.size(0), T = x.size(1), C = x.size(2);
    Tensor y = Tensor::zeros(x.shape());
    auto number = [&](int b, int t, int c) { return size_t((b * T + t) * C + c); };
    for (int b = 0; b < B; ++b) {
        for (int c = 0; c < C; ++c) {
            double mean = 0, variance = 0;
            for (int t = 0; t < T; ++t) mean += x.values()[number(b, t, c)] / double(T);
            for (int t = 0; t < T; ++t) variance += std::pow(x.values()[number(b, t, c)] - mean, 2) / double(T);
            double deviation = std::sqrt(variance + 1e-5);
            for (int t = 0; t < T; ++t) {
                double h = (x.values()[number(b, t, c)] - mean) / deviation;
                y.values()[number(b, t, c)] = real(h * gain.values()[size_t(c)] + bias.values()[size_t(c)]);
            }
        }
    }
    return y;
}
