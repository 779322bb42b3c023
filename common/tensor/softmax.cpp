#include "common/tensor/kernels.h"
#include "common/tensor/ops.h"
#include "common/tensor/recording.h"
#include "common/tensor/shapes.h"

namespace babygpt {

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

}  // namespace babygpt
