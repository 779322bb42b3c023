#include "common/tensor/kernels.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "common/base/rng.h"
#include "common/tensor/simd.h"

namespace babygpt {

namespace {

constexpr real lowest = -std::numeric_limits<real>::infinity();

real max_of(const real* x, size_t n) {
    Vec best(lowest);
    for_lanes(n, [&](size_t i, size_t count) { best = xsimd::max(best, load(x + i, count, lowest)); });
    return max(best);
}

// y = exp(x - shift); returns the sum
real exp_row(const real* x, real shift, real* y, size_t n) {
    Vec total(real(0));
    for_lanes(n, [&](size_t i, size_t count) {
        Vec e = xsimd::exp(load(x + i, count, lowest) - Vec(shift));
        total += e;
        store(y + i, e, count);
    });
    return sum(total);
}

void scale_row(real* y, real factor, size_t n) {
    for (size_t i = 0; i < n; ++i) y[i] *= factor;
}

}  // namespace

void softmax_row(const real* x, real* y, size_t n, size_t seen) {
    Vec v(lowest);
    if (n <= lanes) v = load(x, seen, lowest);  // the whole row in one vector; what is not seen weighs exp(-inf) = 0
    real highest = n <= lanes ? max(v) : max_of(x, seen);
    if (highest == lowest) {  // all hidden: exp(-inf + inf) would be NaN
        std::fill_n(y, n, real(0));
    } else if (n <= lanes) {
        Vec e = xsimd::exp(v - Vec(highest));
        store(y, e * Vec(1 / sum(e)), n);
    } else {
        scale_row(y, 1 / exp_row(x, highest, y, seen), seen);
        std::fill(y + seen, y + n, real(0));
    }
}

void softmax_pullback_row(const real* y, const real* dy, real* dx, size_t n) {
    Vec dots(real(0));
    for_lanes(n, [&](size_t i, size_t count) { dots = xsimd::fma(load(y + i, count), load(dy + i, count), dots); });
    real dot = sum(dots);
    for (size_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - dot);
}

//> layer_norm
RowStats layer_norm_row(const real* x, const real* gain, const real* bias, real epsilon, real* y, size_t n) {
    Vec total(real(0)), squares(real(0));
    for_lanes(n, [&](size_t i, size_t count) { total += load(x + i, count); });
    real mean = sum(total) / static_cast<real>(n);
    for_lanes(n, [&](size_t i, size_t count) {
        Vec centred = load(x + i, count, mean) - Vec(mean);
        squares = xsimd::fma(centred, centred, squares);
    });
    real inverse_deviation = 1 / std::sqrt(sum(squares) / static_cast<real>(n) + epsilon);
    for (size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse_deviation * gain[i] + bias[i];
    return {mean, inverse_deviation};
}

void layer_norm_pullback_row(const real* x, RowStats stats, const real* gain, const real* dy, real* dx, real* dgain,
                             real* dbias, size_t n) {
    // With h = (x - mean) / deviation and dh = dy * gain: dx = (dh - mean(dh) - h * mean(dh * h)) / deviation
    Vec sum_dh(real(0)), sum_dh_h(real(0));
    for_lanes(n, [&](size_t i, size_t count) {
        Vec h = (load(x + i, count) - Vec(stats.mean)) * Vec(stats.inverse_deviation), d = load(dy + i, count);
        Vec dh = d * load(gain + i, count);
        sum_dh += dh;
        sum_dh_h = xsimd::fma(dh, h, sum_dh_h);
        store(dgain + i, xsimd::fma(d, h, load(dgain + i, count)), count);
        store(dbias + i, load(dbias + i, count) + d, count);
    });
    real mean_dh = sum(sum_dh) / static_cast<real>(n), mean_dh_h = sum(sum_dh_h) / static_cast<real>(n);
    for (size_t i = 0; i < n; ++i) {
        real h = (x[i] - stats.mean) * stats.inverse_deviation;
        dx[i] = (dy[i] * gain[i] - mean_dh - h * mean_dh_h) * stats.inverse_deviation;
    }
}
//< layer_norm

real cross_entropy_row(real* logits, int target, size_t n) {
    real highest = max_of(logits, n), wanted = logits[target], total = exp_row(logits, highest, logits, n);
    scale_row(logits, 1 / total, n);
    return std::log(total) + highest - wanted;
}

real cross_entropy_loss(const real* logits, int target, size_t n) {
    Vec highest(max_of(logits, n)), total(real(0));
    for_lanes(n, [&](size_t i, size_t count) { total += xsimd::exp(load(logits + i, count, lowest) - highest); });
    return std::log(sum(total)) + max(highest) - logits[target];
}

DropoutMask::DropoutMask(uint64_t key, double p)
    : low(static_cast<uint32_t>(key)),
      high(static_cast<uint32_t>(key >> 32)),
      limit(static_cast<uint32_t>((1 - p) * 0xffffffff)),
      scale(static_cast<real>(1 / (1 - p))) {}

DropoutMask DropoutMask::at(size_t coordinate) const {
    uint64_t key = Rng(uint64_t(high) << 32 | low, "", coordinate).state;
    DropoutMask part = *this;
    part.low = static_cast<uint32_t>(key), part.high = static_cast<uint32_t>(key >> 32);
    return part;
}

void gelu(std::span<real> x, std::span<real> y) {
    const Vec half(real(0.5)), one(real(1)), height(real(std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2));
    for_lanes(x.size(), [&](size_t i, size_t count) {
        Vec v = load(x.data() + i, count), below = half * (one + xsimd::erf(v * Vec(real(std::numbers::sqrt2 / 2))));
        Vec density = height * xsimd::exp(-half * v * v);
        store(y.data() + i, v * below, count);
        store(x.data() + i, xsimd::fma(v, density, below), count);
    });
}

void tanh(std::span<real> x) {
    for_lanes(x.size(),
              [&](size_t i, size_t count) { store(x.data() + i, xsimd::tanh(load(x.data() + i, count)), count); });
}

void add(std::span<const real> x, std::span<real> sum) {
    for (size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
}

double sum_of_squares(std::span<const real> x) {
    double total = 0;
    // Short runs in real, their sum in double: many small numbers stay exact.
    for (size_t start = 0; start < x.size(); start += 4096) {
        Vec squares(real(0));
        for_lanes(std::min<size_t>(4096, x.size() - start), [&](size_t i, size_t count) {
            Vec v = load(x.data() + start + i, count);
            squares = xsimd::fma(v, v, squares);
        });
        total += double(sum(squares));
    }
    return total;
}

void add_rows(const real* x, real* sum, size_t rows, size_t n) {
    for (size_t r = 0; r < rows; ++r, x += n)
        for (size_t i = 0; i < n; ++i) sum[i] += x[i];
}

void adamw(const AdamWStep& s, std::span<real> value, std::span<const real> gradient, std::span<real> mean,
           std::span<real> square) {
    real b1 = real(s.beta1), b2 = real(s.beta2), scale = real(s.gradient_scale), epsilon = real(s.epsilon);
    real decay = real(1 - s.learning_rate * s.weight_decay);
    real rate = real(s.learning_rate / (1 - std::pow(s.beta1, s.step)));   // corrects the mean's start at 0
    real correction = real(1 / std::sqrt(1 - std::pow(s.beta2, s.step)));  // and the square's
    for_lanes(value.size(), [&](size_t i, size_t count) {
        Vec g = load(gradient.data() + i, count) * Vec(scale);
        Vec m = xsimd::fma(Vec(real(1 - s.beta1)), g, load(mean.data() + i, count) * Vec(b1));
        Vec v = xsimd::fma(Vec(real(1 - s.beta2)) * g, g, load(square.data() + i, count) * Vec(b2));
        Vec update = Vec(rate) * m / xsimd::fma(xsimd::sqrt(v), Vec(correction), Vec(epsilon));
        store(mean.data() + i, m, count);
        store(square.data() + i, v, count);
        store(value.data() + i, load(value.data() + i, count) * Vec(decay) - update, count);
    });
}

}  // namespace babygpt
