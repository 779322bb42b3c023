#include "common/nn/init.h"

#include <cmath>
#include <utility>

namespace babygpt {

namespace {

thread_local bool init_weights_is_off = false;

}  // namespace

NoInitWeights::NoInitWeights()
    : before(std::exchange(init_weights_is_off, true)) {}
NoInitWeights::~NoInitWeights() { init_weights_is_off = before; }

void fill_uniform(Tensor& tensor, double bound, Rng& rng) {
    if (init_weights_is_off) return;
    for (real& v : tensor.values()) v = real(bound * (2 * rng.uniform() - 1));
}

void fill_normal(Tensor& tensor, double deviation, Rng& rng) {
    if (init_weights_is_off) return;
    for (real& v : tensor.values()) v = real(deviation * rng.normal());
}

void fill_sinusoids(Tensor& table, double height) {
    if (init_weights_is_off) return;
    real* value = table.values().data();
    for (int place = 0, n = table.size(1); place < table.size(0); ++place)
        for (int i = 0; i < n; ++i) {
            double angle = place / std::pow(1e4, double(i - i % 2) / n);
            *value++ = real(height * (i % 2 ? std::cos(angle) : std::sin(angle)));
        }
}

}  // namespace babygpt
