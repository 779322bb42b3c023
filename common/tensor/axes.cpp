// Operations that move numbers along axes, or sum them. Blocks of memory are moved whole: measured, xtensor's views and
// reductions take 4 to 10 times as long.
#include <algorithm>
#include <functional>
#include <numeric>

#include "common/tensor/kernels.h"
#include "common/tensor/ops.h"
#include "common/tensor/shapes.h"

namespace babygpt {

namespace {

size_t axis_of(const char* op, const Tensor& x, int axis) {  // negative axes count from the end
    int axes = int(value(x).dimension());
    if (axis < -axes || axis >= axes) fail(op, ": ", to_string(x.shape()), " has no axis ", axis);
    return size_t(axis < 0 ? axis + axes : axis);
}

size_t product(const Array::shape_type& shape, size_t first, size_t last) {
    size_t result = 1;
    for (size_t i = first; i < last; ++i) result *= shape[i];
    return result;
}

// An array seen from one of its axes: `outer` times `size` blocks of `inner` numbers.
struct Blocks {
    size_t outer, size, inner;
    Blocks(const Array& a, size_t axis)
        : outer(product(a.shape(), 0, axis)),
          size(a.shape(axis)),
          inner(product(a.shape(), axis + 1, a.dimension())) {}
    size_t stride() const { return size * inner; }
};

void copy_blocks(size_t count, size_t length, const real* from, size_t from_stride, real* to, size_t to_stride) {
    for (size_t i = 0; i < count; ++i) std::copy_n(from + i * from_stride, length, to + i * to_stride);
}

// y[..., j, ..., i, ...] = x[..., i, ..., j, ...]
Array swapped(const Array& x, size_t first, size_t second) {
    auto shape = x.shape();
    size_t outer = product(shape, 0, first), m = shape[first], between = product(shape, first + 1, second);
    size_t n = shape[second], inner = product(shape, second + 1, shape.size());
    std::swap(shape[first], shape[second]);
    Array y(shape);
    for (size_t o = 0; o < outer; ++o)
        for (size_t i = 0; i < m; ++i)
            for (size_t b = 0; b < between; ++b) {
                const real* from = x.data() + ((o * m + i) * between + b) * n * inner;
                real* to = y.data() + ((o * n * between + b) * m + i) * inner;
                size_t step = between * m * inner;
                if (inner == 1)
                    for (size_t j = 0; j < n; ++j) to[j * step] = from[j];
                else
                    copy_blocks(n, inner, from, inner, to, step);
            }
    return y;
}

}  // namespace

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

// y = sum of x along an axis: dx = dy, repeated along it
Tensor sum(const Tensor& x, int axis) {
    size_t along = axis_of("sum", x, axis);
    auto shape = value(x).shape();
    shape.erase(shape.begin() + std::ptrdiff_t(along));
    if (shape.empty()) shape.push_back(1);
    auto y = make_array(shape);
    Blocks in(value(x), along);
    y->fill(0);
    for (size_t o = 0; o < in.outer; ++o)
        add_rows(value(x).data() + o * in.stride(), y->data() + o * in.inner, in.size, in.inner);
    return make_result(y, {x}, [x, in](Array& dy) {
        Array dx(value(x).shape());
        for (size_t i = 0; i < in.outer * in.size; ++i)
            std::copy_n(dy.data() + i / in.size * in.inner, in.inner, dx.data() + i * in.inner);
        add_grad(x, std::move(dx));
    });
}

// The same numbers in the same order: dx = dy in x's shape
Tensor reshape(Tensor x, Shape shape) {
    const Shape asked = shape;
    auto product = [&] { return std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>()); };
    bool sizes = std::ranges::all_of(shape, [](int n) { return n > 0 || n == -1; });
    if (auto open = std::ranges::find(shape, -1); sizes && open != shape.end() && std::ranges::count(shape, -1) == 1) {
        *open = 1;
        *open = int(x.count() / product());
    }
    if (shape.empty() || !std::ranges::all_of(shape, [](int n) { return n > 0; }) || product() != x.count())
        fail("reshape: ", to_string(x.shape()), " with its ", x.count(), " numbers cannot be seen as ",
             to_string(asked));
    auto before = value(x).shape();
    std::shared_ptr<Array> y = take_value(x);
    if (!y) y = std::make_shared<Array>(value(x));
    y->reshape(Array::shape_type(shape.begin(), shape.end()));
    return make_result(y, {x}, [x, before](Array& dy) {
        dy.reshape(before);
        add_grad(x, std::move(dy));
    });
}

// y = x's places first to last - 1 along an axis: dx = dy there, 0 elsewhere
Tensor slice(const Tensor& x, int axis, int first, int last) {
    size_t along = axis_of("slice", x, axis);
    if (first < 0 || last <= first || size_t(last) > value(x).shape(along))
        fail("slice: ", first, " to ", last, " is no part of axis ", axis, " of ", to_string(x.shape()));
    auto shape = value(x).shape();
    shape[along] = size_t(last - first);
    auto y = make_array(shape);
    Blocks whole(value(x), along);
    size_t start = size_t(first) * whole.inner, length = size_t(last - first) * whole.inner;
    copy_blocks(whole.outer, length, value(x).data() + start, whole.stride(), y->data(), length);
    return make_result(y, {x}, [x, whole, start, length](Array& dy) {
        real* dx = zeroed_grad_target(x);
        for (size_t o = 0; o < whole.outer; ++o)
            add({dy.data() + o * length, length}, {dx + o * whole.stride() + start, length});
    });
}

// The parts one after another along an axis: each part's gradient is its slice of dy
Tensor concat(const std::vector<Tensor>& parts, int axis) {
    if (parts.empty()) fail("concat: nothing to concatenate");
    size_t along = axis_of("concat", parts[0], axis), size = 0;
    for (const Tensor& part : parts) {
        Shape a = part.shape(), b = parts[0].shape();
        if (a.size() == b.size()) a[along] = b[along] = 0;
        if (a != b) fail("concat: ", shapes(parts[0], part), " may differ along axis ", axis, " only");
        size += value(part).shape(along);
    }
    auto shape = value(parts[0]).shape();
    shape[along] = size;
    auto y = make_array(shape);
    Blocks whole(*y, along);
    size_t start = 0;
    for (const Tensor& part : parts) {
        size_t length = Blocks(value(part), along).stride();
        copy_blocks(whole.outer, length, value(part).data(), length, y->data() + start, whole.stride());
        start += length;
    }
    return make_result(y, parts, [parts, along, whole](Array& dy) {
        const real* from = dy.data();
        for (const Tensor& part : parts) {
            Array dx(value(part).shape());
            size_t length = Blocks(dx, along).stride();
            copy_blocks(whole.outer, length, from, whole.stride(), dx.data(), length);
            add_grad(part, std::move(dx));
            from += length;
        }
    });
}

// Two axes change places: so they do in the gradient
Tensor transpose(const Tensor& x, int axis1, int axis2) {
    if (value(x).dimension() < 2) fail("transpose: ", to_string(x.shape()), " has no two axes to swap");
    size_t a = axis_of("transpose", x, axis1), b = axis_of("transpose", x, axis2);
    auto swap = [a, b](const Array& from) { return a == b ? from : swapped(from, std::min(a, b), std::max(a, b)); };
    return make_result(std::make_shared<Array>(swap(value(x))), {x}, [x, swap](Array& dy) { add_grad(x, swap(dy)); });
}

}  // namespace babygpt
