#include "common/tensor/kernels.h"
#include "common/tensor/ops.h"
#include "common/tensor/shapes.h"

namespace babygpt {

// h = (x - mean) / sqrt(variance + epsilon) along each row, y = h * gain + bias
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon) {
    size_t n = row_length(x), count = row_count(x);
    if (gain.count() != n || bias.count() != n)
        fail("layer_norm: rows of ", to_string(x.shape()), " have ", n, " numbers, gain and bias ", shapes(gain, bias));
    auto y = like(x);
    std::vector<RowStats> stats(count);
    for (size_t r = 0; r < count; ++r)
        stats[r] = layer_norm_row(value(x).data() + r * n, value(gain).data(), value(bias).data(), real(epsilon),
                                  y->data() + r * n, n);
    return make_result(y, {x, gain, bias}, [x, gain, bias, stats = std::move(stats), n](Array& dy) {
        std::vector<real> unwanted(n);  // a place for the gradient of a gain or bias that wants none
        real* dgain = gain.wants_grad() ? zeroed_grad_target(gain) : unwanted.data();
        real* dbias = bias.wants_grad() ? zeroed_grad_target(bias) : unwanted.data();
        for (size_t r = 0; r < stats.size(); ++r)
            layer_norm_pullback_row(value(x).data() + r * n, stats[r], value(gain).data(), dy.data() + r * n,
                                    dy.data() + r * n, dgain, dbias, n);
        add_grad(x, std::move(dy));
    });
}

}  // namespace babygpt
