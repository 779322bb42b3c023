#include "common/tensor/ops.h"
#include "common/tensor/shapes.h"

namespace babygpt {

Mask future(int T) {
    Mask mask{T, T, std::vector<char>(size_t(T) * size_t(T))};
    for (int i = 0; i < T; ++i)
        for (int j = i + 1; j < T; ++j) mask.hidden[size_t(i) * size_t(T) + size_t(j)] = true;
    return mask;
}

// y = x with `fill` where the mask hides: dx = dy where it does not, 0 where it does
Tensor masked_fill(Tensor x, const Mask& mask, real fill) {
    Shape shape = x.shape();
    if (shape.size() < 2 || shape[shape.size() - 2] != mask.rows || shape.back() != mask.columns)
        fail("masked_fill: the last two sizes of ", to_string(shape), " differ from the mask's ",
             to_string({mask.rows, mask.columns}));
    std::shared_ptr<Array> y = take_value(x);
    if (!y) y = std::make_shared<Array>(value(x));
    auto hide = [](Array& a, const Mask& m, real with) {
        for (size_t start = 0; start < a.size(); start += m.hidden.size())
            for (size_t i = 0; i < m.hidden.size(); ++i)
                if (m.hidden[i]) a.data()[start + i] = with;
    };
    hide(*y, mask, fill);
    return make_result(y, {x}, [x, mask, hide](Array& dy) {
        hide(dy, mask, 0);
        add_grad(x, std::move(dy));
    });
}

}  // namespace babygpt
