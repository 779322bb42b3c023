// What the tests share: random tensors, how far numbers lie apart, and gradients compared with finite differences.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "common/nn/nn.h"

namespace babygpt {

constexpr bool in_double = sizeof(real) == 8;
constexpr double rounding = in_double ? 1e-12 : 2e-5;  // what sums in another order may differ by, out of 1

inline Tensor random_tensor(const Shape& shape, uint64_t seed = 1, double deviation = 1) {  // wants a gradient
    Tensor tensor = Tensor::parameter(shape);
    Rng rng(seed, "test");
    fill_normal(tensor, deviation, rng);
    return tensor;
}
inline Tensor random_constant(const Shape& shape, uint64_t seed = 1) {
    Tensor tensor = random_tensor(shape, seed);
    return {shape, tensor.values()};
}

// causal_attention of queries, keys and values that lie side by side in one tensor (B, T, 3C).
inline Tensor fused_attention(const Tensor& qkv, int n_head, const auto&... dropout) {
    int C = qkv.size(-1) / 3;
    return causal_attention(slice(qkv, -1, 0, C), slice(qkv, -1, C, 2 * C), slice(qkv, -1, 2 * C, 3 * C), n_head,
                            dropout...);
}

inline std::vector<real> copy(std::span<const real> numbers) { return {numbers.begin(), numbers.end()}; }
inline bool same_bytes(std::span<const real> a, std::span<const real> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// The largest difference, out of the largest number, or out of `least` where all are smaller.
inline double difference(std::span<const real> a, std::span<const real> b, double least = 1e-300) {
    REQUIRE(a.size() == b.size());
    double apart = 0, largest = least;
    for (size_t i = 0; i < a.size(); ++i) {
        double gap = std::abs(double(a[i]) - double(b[i]));
        apart = std::isnan(gap) ? INFINITY : std::max(apart, gap);
        largest = std::max({largest, std::abs(double(a[i])), std::abs(double(b[i]))});
    }
    return apart / largest;
}

inline void check_values(const Tensor& y, const Shape& shape, std::vector<double> expected, double tolerance = 1e-5) {
    CHECK(to_string(y.shape()) == to_string(shape));
    REQUIRE(y.count() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
        CHECK_MESSAGE(std::abs(double(y.values()[i]) - expected[i]) <= tolerance, "number ", i, " is ", y.values()[i],
                      ", not ", expected[i]);
}

// Runs f, which has to throw an Error whose text holds every one of `words`.
inline void check_error(const std::function<void()>& f, const std::vector<std::string>& words) {
    std::string text = "(no error)";
    try {
        f();
    } catch (const Error& error) {
        text = error.what();
    }
    for (const std::string& word : words)
        CHECK_MESSAGE(text.find(word) != text.npos, "\"", text, "\" should say \"", word, "\"");
}

// Compares the gradient of every number in `inputs`, or of `most` in each, with (f(x + h) - f(x - h)) / 2h. The loss is
// a weighted sum of what f returns: not a plain one, as softmax's rows sum to 1 whatever goes in.
inline void check_gradients(const std::function<Tensor()>& f, std::vector<Tensor> inputs, size_t most = SIZE_MAX,
                            double tolerance = in_double ? 1e-6 : 1e-2) {
    const double h = in_double ? 1e-5 : 1e-2, noise = in_double ? 1e-10 : 0;  // of the difference itself, from rounding
    Tensor weights;
    auto loss = [&] {
        NoGrad evaluation;
        Tensor y = f();
        double total = 0;
        for (size_t i = 0; i < y.count(); ++i) total += double(y.values()[i]) * double(weights.values()[i]);
        return total;
    };
    for (Tensor& input : inputs) input.clear_grad();
    Tensor y = f();
    weights = random_constant(y.shape(), 99);
    {
        NoGrad evaluation;
        CHECK(difference(y.values(), f().values()) < rounding);  // recorded or not, the same result
    }
    sum(y * weights).backward();
    Rng rng(7, "which");
    for (size_t k = 0; k < inputs.size(); ++k) {
        std::span<real> x = inputs[k].values();
        REQUIRE(inputs[k].has_grad());
        std::vector<real> gradient = copy(inputs[k].grad());
        double scale = 0, worst = 0;  // a number's gradient is held against the typical one of its tensor
        for (real g : gradient) scale += double(g) * double(g) / double(gradient.size());
        std::string message;
        for (size_t tried = 0; tried < std::min(most, x.size()); ++tried) {
            size_t i = most < x.size() ? rng.below(x.size()) : tried;
            real before = x[i], above = real(before + h), below = real(before - h);
            x[i] = above;
            double up = loss();
            x[i] = below;
            double slope = (up - loss()) / (double(above) - double(below));
            x[i] = before;
            double error = (std::abs(slope - double(gradient[i])) - noise) /
                           std::max({std::sqrt(scale), std::abs(slope), std::abs(double(gradient[i]))});
            if (error <= worst) continue;
            worst = std::isnan(error) ? INFINITY : error;
            message = str("input ", k, " ", to_string(inputs[k].shape()), " number ", i, ": gradient ", gradient[i],
                          ", finite difference ", slope);
        }
        CHECK_MESSAGE(worst <= tolerance, message);
    }
}

}  // namespace babygpt
