#include "common/tensor/ops.h"

#include <algorithm>
#include <cmath>

#include "common/tensor/gemm.h"
#include "common/tensor/kernels.h"
#include "common/tensor/recording.h"
#include "common/tensor/shapes.h"

namespace babygpt {

namespace {

bool suffix(const Array::shape_type& a, const Array::shape_type& b) {  // b ends in a
    return a.size() <= b.size() && std::equal(a.rbegin(), a.rend(), b.rbegin());
}

// The pullback of broadcasting: x was repeated, so its gradient is the sum over the repeats.
void add_grad_of_broadcast(const Tensor& x, const Array::shape_type& shape, Array&& dy) {
    if (!x.wants_grad()) return;
    if (shape == dy.shape()) return add_grad(x, std::move(dy));
    Array dx(shape);
    dx.fill(0);
    if (suffix(shape, dy.shape())) {
        add_rows(dy.data(), dx.data(), dy.size() / dx.size(), dx.size());
    } else {
        std::vector<size_t> repeated;
        size_t ahead = dy.dimension() - shape.size();
        for (size_t i = 0; i < dy.dimension(); ++i)
            if (i < ahead || (shape[i - ahead] == 1 && dy.shape(i) != 1)) repeated.push_back(i);
        Array summed = xt::sum(dy, repeated);  // named: inside an expression it is computed again and again
        std::copy(summed.begin(), summed.end(), dx.begin());
    }
    add_grad(x, std::move(dx));
}

}  // namespace

Tokens::Tokens(int batch, int time, std::vector<int> numbers)
    : B(batch),
      T(time),
      ids(std::move(numbers)) {
    if (B < 1 || T < 1 || ids.size() != size_t(B) * size_t(T))
        fail("tokens of shape ", to_string({B, T}), " cannot hold ", ids.size(), " numbers");
}
Tokens::Tokens(int batch, int time)
    : Tokens(batch, time, std::vector<int>(batch > 0 && time > 0 ? size_t(batch) * size_t(time) : 0)) {}

//> multiply
// y = a * b, number by number: da = dy * b, db = dy * a
Tensor operator*(Tensor a, Tensor b) {
    auto y = make_array(broadcast_shape("*", value(a).shape(), value(b).shape()));
    xt::noalias(*y) = value(a) * value(b);
    return make_result(y, {a, b}, [a, b](Array& dy) {
        if (a.wants_grad()) add_grad_of_broadcast(a, value(a).shape(), dy * value(b));
        if (b.wants_grad()) add_grad_of_broadcast(b, value(b).shape(), dy * value(a));
    });
}
//< multiply

// y = a + b: da = dy, db = dy
Tensor operator+(Tensor a, Tensor b) {
    auto shape = broadcast_shape("+", value(a).shape(), value(b).shape()), a_shape = value(a).shape(),
         b_shape = value(b).shape();
    std::shared_ptr<Array> y;
    if (b_shape == shape && (y = take_value(b)))
        xt::noalias(*y) += value(a);
    else if (a_shape == shape && (y = take_value(a)))
        xt::noalias(*y) += value(b);
    else
        xt::noalias(*(y = make_array(shape))) = value(a) + value(b);
    return make_result(y, {a, b}, [a, b, a_shape, b_shape](Array& dy) {
        if (a.wants_grad()) add_grad_of_broadcast(a, a_shape, b.wants_grad() ? Array(dy) : std::move(dy));
        if (b.wants_grad()) add_grad_of_broadcast(b, b_shape, std::move(dy));
    });
}

Tensor operator-(Tensor a, Tensor b) {
    broadcast_shape("-", value(a).shape(), value(b).shape());
    return std::move(a) + std::move(b) * -1.0;
}

// y = factor a: da = factor dy
Tensor operator*(Tensor a, double factor) {
    std::shared_ptr<Array> y = take_value(a);
    if (y)
        xt::noalias(*y) *= real(factor);
    else
        xt::noalias(*(y = like(a))) = value(a) * real(factor);
    return make_result(y, {a}, [a, factor](Array& dy) {
        xt::noalias(dy) *= real(factor);
        add_grad(a, std::move(dy));
    });
}

Tensor operator/(Tensor a, double divisor) { return std::move(a) * (1 / divisor); }

//> relu
// y = max(x, 0), and NaN stays NaN: dx = 0 where y <= 0, else dy
Tensor relu(Tensor x) {
    std::shared_ptr<Array> y = take_value(x);
    const real* in = y ? y->data() : value(x).data();
    if (!y) y = like(x);
    real* out = y->data();
    for (size_t i = 0; i < y->size(); ++i) out[i] = in[i] <= 0 ? 0 : in[i];
    return make_result(y, {x}, [x, y](Array& dy) {
        real* d = dy.data();
        const real* kept = y->data();
        for (size_t i = 0; i < dy.size(); ++i) d[i] = kept[i] <= 0 ? 0 : d[i];
        add_grad(x, std::move(dy));
    });
}
//< relu

// y = x P(x), with P(x) = (1 + erf(x / sqrt 2)) / 2 the chance that a normal number is below x, and p its density:
// dx = dy (P(x) + x p(x)), a slope that is computed and kept on the way forward, where P is at hand
Tensor gelu(Tensor x) {
    std::shared_ptr<Array> slope = take_value(x);
    if (!slope) slope = std::make_shared<Array>(value(x));
    auto y = make_array(slope->shape());
    gelu({slope->data(), slope->size()}, {y->data(), y->size()});
    return make_result(y, {x}, [x, slope](Array& dy) {
        xt::noalias(dy) *= *slope;
        add_grad(x, std::move(dy));
    });
}

// y = tanh(x): dx = dy (1 - y^2)
Tensor tanh(Tensor x) {
    std::shared_ptr<Array> y = take_value(x);
    if (!y) y = std::make_shared<Array>(value(x));
    tanh({y->data(), y->size()});
    return make_result(y, {x}, [x, y](Array& dy) {
        real* d = dy.data();
        for (size_t i = 0; i < dy.size(); ++i) d[i] *= 1 - y->data()[i] * y->data()[i];
        add_grad(x, std::move(dy));
    });
}

// Multiplies what lies at x by the mask, whose first axis begins at `first`; returns where that ends. The mask is a
// copy, which writing to x cannot change, so that the loop runs in vectors.
static real* drop(const DropoutMask mask, std::span<const int> shape, size_t first, real* x) {
    size_t n = size_t(shape[0]);
    if (shape.size() == 1) {
        for (size_t i = 0; i < n; ++i) x[i] *= mask(uint32_t(first + i));
        return x + n;
    }
    for (size_t i = 0; i < n; ++i) x = drop(mask.at(first + i), shape.subspan(1), 0, x);
    return x;
}

// y = x * mask: dx = dy * mask, with the same mask
Tensor dropout(Tensor x, double p, uint64_t key, int first_row) {
    if (!(p >= 0 && p < 1)) fail("dropout: a share of ", p, " is not in [0, 1)");
    Shape shape = x.shape();
    std::shared_ptr<Array> y = take_value(x);
    if (!y) y = std::make_shared<Array>(value(x));
    DropoutMask mask(key, p);
    drop(mask, shape, size_t(first_row), y->data());
    return make_result(y, {x}, [x, mask, shape, first_row](Array& dy) {
        drop(mask, shape, size_t(first_row), dy.data());
        add_grad(x, std::move(dy));
    });
}

// y[b, t] = table[ids[b, t]]: each row's gradient is the sum over the places it went to
Tensor embedding(const Tensor& table, const Tokens& ids) {
    if (table.shape().size() != 2) fail("embedding: a table has two axes, not ", to_string(table.shape()));
    size_t n = row_length(table);
    for (int id : ids.ids)
        if (id < 0 || id >= table.size(0)) fail("embedding: no row ", id, " in a table of ", table.size(0));
    auto y = make_array({size_t(ids.B), size_t(ids.T), n});
    for (size_t i = 0; i < ids.ids.size(); ++i)
        std::copy_n(value(table).data() + size_t(ids.ids[i]) * n, n, y->data() + i * n);
    Tensor result = make_result(y, {table}, [table, ids = ids.ids, n](Array& dy) {
        real* dtable = zeroed_grad_target(table);
        for (size_t i = 0; i < ids.size(); ++i) {
            real* row = dtable + size_t(ids[i]) * n;
            for (size_t j = 0; j < n; ++j) row[j] += dy.data()[i * n + j];
        }
    });
    return recorded(table, std::move(result));
}

// y = x w^T + bias: dx = dy w, dw = dy^T x, dbias = the sum of dy's rows
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    const auto& sizes = value(weight).shape();
    size_t in = row_length(x), count = row_count(x);
    if (sizes.size() != 2 || sizes[1] != in ||
        (bias.node && (value(bias).dimension() != 1 || bias.count() != sizes[0])))
        fail("linear: ", to_string(x.shape()), " with a weight of ", to_string(weight.shape()),
             bias.node ? " and a bias of " + to_string(bias.shape()) : "", " (out,in): sizes do not fit");
    size_t out = sizes[0];
    auto shape = value(x).shape();
    shape.back() = out;
    auto y = make_array(shape);
    if (bias.node)
        for (size_t r = 0; r < count; ++r) std::copy_n(value(bias).data(), out, y->data() + r * out);
    (grad_enabled() ? gemm : gemm_shared)(count, out, in, 1, {value(x).data(), in}, {value(weight).data(), in, true},
                                          bias.node ? 1 : 0, y->data(), out);
    std::vector<Tensor> inputs = bias.node ? std::vector{x, weight, bias} : std::vector{x, weight};
    Tensor result = make_result(y, std::move(inputs), [=](Array& dy) {
        if (x.wants_grad()) {
            auto [dx, beta] = grad_target(x);
            gemm(count, in, out, 1, {dy.data(), out}, {value(weight).data(), in}, beta, dx, in);
        }
        if (bias.node && bias.wants_grad()) add_rows(dy.data(), zeroed_grad_target(bias), count, out);
        if (weight.wants_grad()) {
            auto [dw, beta] = grad_target(weight);
            gemm(out, in, count, 1, {dy.data(), out, true}, {value(x).data(), in}, beta, dw, in);
        }
    });
    return recorded(weight, std::move(result));
}

}  // namespace babygpt
