// Task 08a: layer normalisation.
//
// Each row of x, that is the C numbers at one place, is brought to mean 0 and deviation 1, then scaled and shifted:
//   mean = sum over c of x[n, c] / C
//   variance = sum over c of (x[n, c] - mean)^2 / C
//   h[n, c] = (x[n, c] - mean) / sqrt(variance + 1e-5)
//   y[n, c] = h[n, c] * gain[c] + bias[c]
// x, h and y are (N, C); N counts all places of all sequences. gain and bias are (C). Every row has a mean and a
// variance of its own. The 1e-5 keeps a row of equal numbers from being divided by 0.
//
// Check it: make exercise N=08a
// Hint: three loops over c for each row: for the mean, for the variance, and for y.
#include <cmath>

#include "common/tensor/tensor.h"
using namespace babygpt;

Tensor normalise(const Tensor& x, const Tensor& gain, const Tensor& bias) {
    size_t C = size_t(x.size(-1)), N = x.count() / C;
    Tensor y = Tensor::zeros(x.shape());
    for (size_t n = 0; n < N; ++n) {
        const real* row = &x.values()[n * C];
        double mean = 0, variance = 0;  // inside the loop: every place starts anew and sees no other
        for (size_t c = 0; c < C; ++c) mean += row[c] / double(C);
        for (size_t c = 0; c < C; ++c) variance += (row[c] - mean) * (row[c] - mean) / double(C);
        for (size_t c = 0; c < C; ++c)
            y.values()[n * C + c] =
                real((row[c] - mean) / std::sqrt(variance + 1e-5) * gain.values()[c] + bias.values()[c]);
    }
    return y;
}
