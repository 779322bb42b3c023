// Operations that move numbers along axes, or sum them.
#include <algorithm>

#include "common/tensor/ops.h"
#include "common/tensor/shapes.h"

namespace babygpt {

// y = sum of x: dx = dy, everywhere
Tensor sum(const Tensor& x) {
    auto y = make_array({1});
    double total = 0;
    for (real v : x.values()) total += v;
    (*y)(0) = real(total);
    return make_result(y, {x}, [x](Array& dy) {
        Array dx(value(x).shape());
        dx.fill(dy(0));
        add_grad(x, std::move(dx));
    });
}

Tensor transpose(const Tensor& x) {
    Shape shape = x.shape();
    if (shape.size() < 2) fail("transpose: ", to_string(shape), " has no two axes to swap");
    auto swapped = [](const Array& a) {
        size_t axes = a.dimension(), m = a.shape(axes - 2), n = a.shape(axes - 1);
        auto target = a.shape();
        std::swap(target[axes - 2], target[axes - 1]);
        Array result(target);
        for (size_t start = 0; start < a.size(); start += m * n)
            for (size_t i = 0; i < m; ++i)
                for (size_t j = 0; j < n; ++j) result.data()[start + j * m + i] = a.data()[start + i * n + j];
        return result;
    };
    auto y = std::make_shared<Array>(swapped(value(x)));
    return make_result(y, {x}, [x, swapped](Array& dy) { add_grad(x, swapped(dy)); });
}

Tensor concat(const std::vector<Tensor>& parts) {
    if (parts.empty()) fail("concat: nothing to concatenate");
    auto shape = value(parts[0]).shape();
    size_t count = row_count(parts[0]), n = 0;
    for (const Tensor& part : parts) {
        Shape a = part.shape(), b = parts[0].shape();
        a.back() = b.back() = 0;
        if (a != b) fail("concat: ", shapes(parts[0], part), " may differ in their last size only");
        n += row_length(part);
    }
    shape.back() = n;
    auto y = make_array(shape);
    auto columns = [n, count](const Tensor& part, size_t offset,
                              auto copy) {  // copy(part's row, row of the whole, length)
        size_t width = part.count() / count;
        for (size_t r = 0; r < count; ++r) copy(r * width, r * n + offset, width);
        return offset + width;
    };
    size_t offset = 0;
    for (const Tensor& part : parts)
        offset = columns(part, offset, [&](size_t from, size_t to, size_t width) {
            std::copy_n(value(part).data() + from, width, y->data() + to);
        });
    return make_result(y, parts, [parts, columns](Array& dy) {
        size_t start = 0;
        for (const Tensor& part : parts) {
            Array dx(value(part).shape());
            start = columns(part, start, [&](size_t to, size_t from, size_t width) {
                std::copy_n(dy.data() + from, width, dx.data() + to);
            });
            add_grad(part, std::move(dx));
        }
    });
}

}  // namespace babygpt
