// Operations on rows, that is along the last axis: softmax, layer norm, cross-entropy.
#include <algorithm>

#include "common/tensor/kernels.h"
#include "common/tensor/ops.h"
#include "common/tensor/recording.h"
#include "common/tensor/shapes.h"

namespace babygpt {

//> softmax
// y = exp(x) / sum(exp(x)) along each row: dx = y * (dy - sum(dy * y))
Tensor softmax(Tensor x) {
    size_t n = row_length(x), count = row_count(x);
    std::shared_ptr<Array> y = take_value(x);
    const real* in = y ? y->data() : value(x).data();
    if (!y) y = like(x);
    for (size_t r = 0; r < count; ++r) softmax_row(in + r * n, y->data() + r * n, n, n);
    Tensor result = make_result(y, {x}, [x, y, n, count](Array& dy) {
        for (size_t r = 0; r < count; ++r)
            softmax_pullback_row(y->data() + r * n, dy.data() + r * n, dy.data() + r * n, n);
        add_grad(x, std::move(dy));
    });
    return recorded({}, std::move(result));
}
//< softmax

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

// loss = mean of log(sum(exp(z))) - z[target] over the targets that count: dz = (softmax(z) - 1 at the target) / their
// number, 0 where none counts
Tensor cross_entropy(Tensor logits, const Tokens& targets, size_t of) {
    size_t n = row_length(logits), count = row_count(logits);
    if (count != targets.ids.size())
        fail("cross_entropy: logits ", to_string(logits.shape()), " for targets ", to_string({targets.B, targets.T}));
    for (int id : targets.ids)
        if (id != ignore_index && (id < 0 || size_t(id) >= n))
            fail("cross_entropy: no target ", id, " among ", n, " logits");
    auto for_counted = [n](const std::vector<int>& ids, auto f) {  // f(where the row starts, target)
        for (size_t r = 0; r < ids.size(); ++r)
            if (ids[r] != ignore_index) f(r * n, ids[r]);
    };
    if (of == 0) of = count - size_t(std::ranges::count(targets.ids, ignore_index));
    real scale = real(1) / real(std::max<size_t>(of, 1));
    double total = 0;
    auto loss = make_array({1});
    if (!grad_enabled() || !logits.wants_grad()) {
        const real* z = value(logits).data();
        for_counted(targets.ids, [&](size_t row, int id) { total += cross_entropy_loss(z + row, id, n); });
        (*loss)(0) = real(total) * scale;
        return make_tensor(loss);
    }
    std::shared_ptr<Array> probabilities = take_value(logits);  // a large vocabulary's logits are held once, not twice
    if (!probabilities) probabilities = std::make_shared<Array>(value(logits));
    real* p = probabilities->data();
    for_counted(targets.ids, [&](size_t row, int id) { total += cross_entropy_row(p + row, id, n); });
    (*loss)(0) = real(total) * scale;
    return make_result(loss, {logits}, [logits, probabilities, ids = targets.ids, n, scale](Array& dy) {
        Array& dz = *probabilities;
        for (size_t r = 0; r < ids.size(); ++r)
            if (real* row = dz.data() + r * n; ids[r] == ignore_index)
                std::fill_n(row, n, real(0));
            else
                row[ids[r]] -= 1;
        xt::noalias(dz) *= dy(0) * scale;
        add_grad(logits, std::move(dz));
    });
}

}  // namespace babygpt
