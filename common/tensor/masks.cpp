#include "common/tensor/masks.h"

#include <algorithm>

#include "common/tensor/ops.h"
#include "common/tensor/shapes.h"

namespace babygpt {

namespace {

// Walks an array of shape `whole` and the mask that is broadcast to it: f(start in whole, start in mask, length) for
// the longest runs that lie side by side in both.
template <class F>
void for_runs(const Shape& whole, const Shape& mask, F f) {
    size_t axes = whole.size(), ahead = axes - mask.size(), run = 1, outer = axes;
    std::vector<size_t> step(axes, 0), index(axes, 0);
    for (size_t i = axes, size = 1; i-- > 0;) {
        int n = i < ahead ? 1 : mask[i - ahead];
        if (n != 1) step[i] = size;
        size *= size_t(n);
        if (outer == i + 1 && n == whole[i]) outer = i, run = size;
    }
    size_t count = 1, offset = 0;
    for (size_t i = 0; i < outer; ++i) count *= size_t(whole[i]);
    for (size_t n = 0; n < count; ++n) {
        f(n * run, offset, run);
        for (size_t i = outer; i-- > 0;) {
            offset += step[i];
            if (++index[i] < size_t(whole[i])) break;
            offset -= index[i] * step[i];
            index[i] = 0;
        }
    }
}

template <class F>
Mask combine(const char* op, const Mask& a, const Mask& b, F f) {
    Mask result{broadcast_shape(op, a.shape, b.shape), {}};
    size_t count = 1;
    for (int n : result.shape) count *= size_t(n);
    result.values.resize(count);
    for_runs(result.shape, a.shape, [&](size_t to, size_t from, size_t n) {
        std::copy_n(a.values.data() + from, n, result.values.data() + to);
    });
    for_runs(result.shape, b.shape, [&](size_t to, size_t from, size_t n) {
        for (size_t i = 0; i < n; ++i) result.values[to + i] = f(result.values[to + i], b.values[from + i]);
    });
    return result;
}

void fill_run(const char* where, real* x, size_t n, real fill) {  // a select and no branch: it runs in vectors
    for (size_t i = 0; i < n; ++i) x[i] = where[i] ? fill : x[i];
}

void fill_where(const Mask& mask, Array& x, const Shape& shape, real fill) {
    for_runs(shape, mask.shape,
             [&](size_t to, size_t from, size_t n) { fill_run(mask.values.data() + from, x.data() + to, n, fill); });
}

}  // namespace

Mask tril(int rows, int columns) {
    if (rows < 1 || columns < rows)
        fail("tril: a mask of ", to_string({rows, columns}), " needs a row, and no fewer columns");
    Mask mask{{rows, columns}, std::vector<char>(size_t(rows) * size_t(columns))};
    for (int i = 0; i < rows; ++i)
        std::fill_n(mask.values.begin() + std::ptrdiff_t(i) * columns, columns - rows + i + 1, 1);
    return mask;
}
Mask tril(int T) { return tril(T, T); }

Mask padding(const std::vector<int>& lengths, int T) {
    if (lengths.empty() || T < 1) fail("padding: ", lengths.size(), " lengths of at most ", T, " make no mask");
    Mask mask{{int(lengths.size()), 1, 1, T}, std::vector<char>(lengths.size() * size_t(T))};
    for (size_t b = 0; b < lengths.size(); ++b) {
        if (lengths[b] < 0 || lengths[b] > T) fail("padding: a length of ", lengths[b], " in rows of ", T);
        std::fill_n(mask.values.begin() + std::ptrdiff_t(b) * T, lengths[b], 1);
    }
    return mask;
}

Mask operator!(Mask mask) {
    for (char& v : mask.values) v = !v;
    return mask;
}
Mask operator&&(const Mask& a, const Mask& b) {
    if (a.values.empty() || b.values.empty()) return a.values.empty() ? b : a;
    return combine("&&", a, b, [](char x, char y) { return x & y; });
}
Mask operator||(const Mask& a, const Mask& b) {
    if (a.values.empty() || b.values.empty()) return a.values.empty() ? b : a;
    return combine("||", a, b, [](char x, char y) { return x | y; });
}

// y = x with `fill` where the mask is true: dx = dy where it is false, 0 where it is true
Tensor masked_fill(Tensor x, Mask mask, real fill) {
    if (mask.values.empty()) return x;
    Shape shape = x.shape();
    if (broadcast_shape("masked_fill", shape, mask.shape) != shape)
        fail("masked_fill: a mask of ", to_string(mask.shape), " is larger than ", to_string(shape));
    std::shared_ptr<Array> y = take_value(x);
    if (!y) y = std::make_shared<Array>(value(x));
    fill_where(mask, *y, shape, fill);
    return make_result(y, {x}, [x, shape, mask = std::move(mask)](Array& dy) {
        fill_where(mask, dy, shape, 0);
        add_grad(x, std::move(dy));
    });
}

}  // namespace babygpt
