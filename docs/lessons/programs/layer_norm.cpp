// Lesson 08: LayerNorm and its pullback as plain loops, and how far from them common/tensor is, many numbers at a time.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

using Row = std::vector<double>;  // the C numbers of one place

//> forward
struct Norm {
    double mean = 0, deviation = 0;
};

Norm measure(const Row& x) {
    Norm norm;
    for (double number : x) norm.mean += number / double(x.size());
    double variance = 0;
    for (double number : x) variance += std::pow(number - norm.mean, 2) / double(x.size());
    norm.deviation = std::sqrt(variance + 1e-5);
    return norm;
}

Row layer_norm_row(const Row& x, const Row& gain, const Row& bias) {
    Norm norm = measure(x);
    Row y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
        double h = (x[i] - norm.mean) / norm.deviation;
        y[i] = gain[i] * h + bias[i];
    }
    return y;
}
//< forward

//> pullback
Row layer_norm_pullback_row(const Row& x, const Row& gain, const Row& dy) {
    Norm norm = measure(x);
    Row h(x.size()), dh(x.size()), dx(x.size());
    double mean_dh = 0, mean_dh_h = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        h[i] = (x[i] - norm.mean) / norm.deviation;
        dh[i] = dy[i] * gain[i];
        mean_dh += dh[i] / double(x.size());
        mean_dh_h += dh[i] * h[i] / double(x.size());
    }
    for (size_t i = 0; i < x.size(); ++i) dx[i] = (dh[i] - mean_dh - h[i] * mean_dh_h) / norm.deviation;
    return dx;
}
//< pullback

void print(const char* name, const Row& row) {
    std::printf("%-4s", name);
    for (double number : row) std::printf(" %6.2f", number);
    std::printf("\n");
}

int main() {
    Row example{1, 1, 5, 5}, ones(4, 1), zeros(4);
    print("x", example);
    print("y", layer_norm_row(example, ones, zeros));

    const int rows = 1000, C = 64;
    Rng rng(1, "rows");
    auto random = [&](Shape shape) {
        Tensor tensor = Tensor::parameter(shape);
        fill_normal(tensor, 1, rng);
        return tensor;
    };
    Tensor x = random({rows, C}), gain = random({C}), bias = random({C}), dy = random({rows, C});
    Tensor y = layer_norm(x, gain, bias, 1e-5);
    y.backward(dy);
    double difference_y = 0, difference_dx = 0;
    auto row = [](std::span<const real> numbers, size_t i) {
        return Row(numbers.begin() + long(i), numbers.begin() + long(i) + C);
    };
    for (size_t i = 0; i < x.count(); i += C) {
        Row g = row(gain.values(), 0), xs = row(x.values(), i);
        Row plain = layer_norm_row(xs, g, row(bias.values(), 0)), fast = row(y.values(), i);
        Row plain_dx = layer_norm_pullback_row(xs, g, row(dy.values(), i)), fast_dx = row(x.grad(), i);
        for (size_t c = 0; c < C; ++c) {
            difference_y = std::max(difference_y, std::abs(plain[c] - fast[c]));
            difference_dx = std::max(difference_dx, std::abs(plain_dx[c] - fast_dx[c]));
        }
    }
    std::printf("largest difference from common/tensor in %d rows of %d: %.0e in y, %.0e in dx\n", rows, C,
                difference_y, difference_dx);
}
