// einsum and its special case matmul. A label is an axis; by where it occurs, it is one of four kinds:
//   in a, b and y: batch     in a and b: contracted, summed over     in a and y, or in b and y: free
// So a sum of products is a matrix product of one contracted and two free labels, repeated for all others. Matrices are
// read where they lie: q[b, :, h, :] of (B, T, n_head, H) is one of T rows that lie n_head * H apart.
#include <algorithm>
#include <cctype>
#include <numeric>

#include "common/tensor/gemm.h"
#include "common/tensor/ops.h"
#include "common/tensor/shapes.h"

namespace babygpt {

namespace {

struct Axis {  // a label: its size, and how far apart its numbers lie in a, b and y; 0 where it does not occur
    size_t size = 1, a = 0, b = 0, y = 0;
    bool same_kind(const Axis& o) const { return !a == !o.a && !b == !o.b && !y == !o.y; }
    bool continues(const Axis& o) const {  // this inside of o is one long axis, in all three
        return a * size == o.a && b * size == o.b && y * size == o.y;
    }
};
using Axes = std::vector<Axis>;

// Calls f(offset in a, in b, in y) for every combination of the axes' places.
template <class F>
void for_each(const Axes& axes, const F& f) {
    std::vector<size_t> index(axes.size());
    for (size_t a = 0, b = 0, y = 0;;) {
        f(a, b, y);
        size_t i = axes.size();
        for (; i > 0; --i) {
            const Axis& axis = axes[i - 1];
            a += axis.a, b += axis.b, y += axis.y;
            if (++index[i - 1] < axis.size) break;
            a -= axis.size * axis.a, b -= axis.size * axis.b, y -= axis.size * axis.y;
            index[i - 1] = 0;
        }
        if (i == 0) return;
    }
}

// The labels of y, then those that are summed over; neighbours of a kind are joined where memory allows.
Axes axes_of(const std::string& la, const Array::shape_type& a, const std::string& lb, const Array::shape_type& b,
             const std::string& ly, const Array::shape_type& y) {
    Axes axes;
    axes.reserve(8);
    std::string names = ly;
    for (char c : la + lb)
        if (names.find(c) == names.npos) names += c;
    for (char c : names) {
        Axis axis;
        auto stride = [&](const std::string& labels, const Array::shape_type& shape) -> size_t {
            size_t at = labels.find(c), result = 1;
            if (at == labels.npos || shape[at] == 1) return 0;
            axis.size = shape[at];
            while (++at < labels.size()) result *= shape[at];
            return result;
        };
        axis.a = stride(la, a), axis.b = stride(lb, b), axis.y = stride(ly, y);
        if (axis.size > 1) axes.push_back(axis);
    }
    for (size_t i = axes.size(); i-- > 1;)
        for (size_t j = i; j-- > 0;)
            if (axes[i].same_kind(axes[j]) && axes[i].continues(axes[j])) {
                axes[i].size *= axes[j].size;
                axes.erase(axes.begin() + std::ptrdiff_t(j));
                --i;
            }
    return axes;
}

// Gives an operand other strides, those of a copy laid out row by row, loops first. Returns the axes of the
// copying: `a` is where a number was, `y` where it goes.
Axes lay_out(Axes& loops, Axis& m, Axis& n, Axis& k, size_t Axis::*stride) {
    std::vector<Axis*> order;
    for (Axis& axis : loops) order.push_back(&axis);
    order.insert(order.end(), {&m, &n, &k});
    Axes moves;
    size_t count = 1;
    for (size_t i = order.size(); i-- > 0;)
        if (size_t& step = order[i]->*stride) {
            moves.insert(moves.begin(), {.size = order[i]->size, .a = step, .y = count});
            step = count;
            count *= order[i]->size;
        }
    return moves;
}

// y = beta y + the sums of products of a and b
void contract(const std::string& la, const Array& a, const std::string& lb, const Array& b, const std::string& ly,
              const Array::shape_type& shape, real* y, real beta) {
    Axes loops = axes_of(la, a.shape(), lb, b.shape(), ly, shape);
    auto take = [&](bool in_a, bool in_b, bool in_y) {  // the last of this kind, or one of size 1
        for (size_t i = loops.size(); i-- > 0;)
            if (Axis axis = loops[i]; bool(axis.a) == in_a && bool(axis.b) == in_b && bool(axis.y) == in_y) {
                loops.erase(loops.begin() + std::ptrdiff_t(i));
                return axis;
            }
        return Axis();
    };
    Axis m = take(true, false, true), n = take(false, true, true), k = take(true, true, false);
    const real *from_a = a.data(), *from_b = b.data();
    if (m.y == 1) {  // y^T = b^T a^T
        std::swap(from_a, from_b);
        std::swap(m, n);
        std::swap(m.a, m.b), std::swap(n.a, n.b), std::swap(k.a, k.b);
        for (Axis& axis : loops) std::swap(axis.a, axis.b);
    }
    Array copy_of_a, copy_of_b, result;  // where rows or columns do not lie side by side
    auto copied = [&](const real* from, size_t Axis::*stride, Array& copy) -> const real* {
        Axes moves = lay_out(loops, m, n, k, stride);
        copy = Array(Array::shape_type{moves[0].size * moves[0].y});
        for_each(moves, [&](size_t was, size_t, size_t is) { copy.data()[is] = from[was]; });
        return copy.data();
    };
    if (k.a > 1 && m.a > 1) from_a = copied(from_a, &Axis::a, copy_of_a);
    if (n.b > 1 && k.b > 1) from_b = copied(from_b, &Axis::b, copy_of_b);
    Axes moves_back;
    real *to = y, beta_of_result = beta;
    size_t count = std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
    if (n.y > 1) {
        moves_back = lay_out(loops, m, n, k, &Axis::y);
        result = Array(Array::shape_type{count});
        to = result.data(), beta_of_result = 0;
    }
    bool sums = std::ranges::any_of(loops, [](const Axis& axis) { return axis.y == 0; });
    if (sums && beta_of_result == 0) std::fill_n(to, count, real(0)), beta_of_result = 1;

    bool a_transposed = k.a > 1, b_transposed = n.b > 1;
    Matrix rows_of_a{nullptr, a_transposed ? k.a : std::max(m.a, k.size), a_transposed};
    Matrix rows_of_b{nullptr, b_transposed ? n.b : std::max(k.b, n.size), b_transposed};
    for_each(loops, [&](size_t at_a, size_t at_b, size_t at_y) {
        rows_of_a.data = from_a + at_a, rows_of_b.data = from_b + at_b;
        gemm(m.size, n.size, k.size, 1, rows_of_a, rows_of_b, beta_of_result, to + at_y, std::max(m.y, n.size));
    });
    if (to != y)
        for_each(moves_back, [&](size_t was, size_t, size_t is) { y[was] = to[is] + (beta == 0 ? 0 : beta * y[was]); });
}

Array::shape_type shape_of(const std::string& labels, const std::string& la, const Tensor& a, const std::string& lb,
                           const Tensor& b) {
    Array::shape_type shape;
    for (char c : labels)
        shape.push_back(la.find(c) != la.npos ? value(a).shape(la.find(c)) : value(b).shape(lb.find(c)));
    if (shape.empty()) shape.push_back(1);
    return shape;
}

//> einsum
// y = a with b by their labels; its gradients are such sums too: da = dy with b, db = a with dy
Tensor product(const std::string& la, const Tensor& a, const std::string& lb, const Tensor& b, const std::string& ly,
               const Array::shape_type& shape) {
    auto y = make_array(shape);
    contract(la, value(a), lb, value(b), ly, shape, y->data(), 0);
    return make_result(y, {a, b}, [=](Array& dy) {
        if (a.wants_grad()) {
            auto [da, beta] = grad_target(a);
            contract(ly, dy, lb, value(b), la, value(a).shape(), da, beta);
        }
        if (b.wants_grad()) {
            auto [db, beta] = grad_target(b);
            contract(la, value(a), ly, dy, lb, value(b).shape(), db, beta);
        }
    });
}
//< einsum

void check_labels(const std::string& formula, const std::string& la, const Tensor& a, const std::string& lb,
                  const Tensor& b, const std::string& ly) {
    for (auto [labels, x] : {std::pair(&la, &a), {&lb, &b}})
        if (labels->size() != x->shape().size() && !(labels->empty() && x->count() == 1))
            fail("einsum ", formula, ": \"", *labels, "\" names ", labels->size(), " axes of a tensor of shape ",
                 to_string(x->shape()));
    for (const std::string* labels : {&la, &lb, &ly})
        for (char c : *labels) {
            if (!std::isalpha(static_cast<unsigned char>(c))) fail("einsum ", formula, ": '", c, "' is no letter");
            if (std::ranges::count(*labels, c) > 1)
                fail("einsum ", formula, ": ", c, " stands twice in \"", *labels, "\"; give each axis its own letter");
        }
    for (char c : ly)
        if ((la + lb).find(c) == la.npos) fail("einsum ", formula, ": ", c, " of the result is in neither input");
    for (size_t i = 0; i < la.size(); ++i)
        if (size_t j = lb.find(la[i]); j != lb.npos && a.size(int(i)) != b.size(int(j)))
            fail("einsum ", formula, ": ", la[i], " is ", a.size(int(i)), " in ", to_string(a.shape()), " and ",
                 b.size(int(j)), " in ", to_string(b.shape()));
}

}  // namespace

Tensor einsum(const std::string& formula, const Tensor& a, const Tensor& b) {
    size_t comma = formula.find(','), arrow = formula.find("->");
    if (comma == formula.npos || arrow == formula.npos || arrow < comma)
        fail("einsum ", formula, ": a formula names the axes of both inputs and of the result, as \"ij,jk->ik\" does");
    std::string la = formula.substr(0, comma), lb = formula.substr(comma + 1, arrow - comma - 1);
    std::string ly = formula.substr(arrow + 2);
    check_labels(formula, la, a, lb, b, ly);
    auto alone = [&](char c, const std::string& other) { return (other + ly).find(c) == std::string::npos; };
    for (size_t i = 0; i < la.size(); ++i)  // nobody else has it: its sum is all that counts
        if (alone(la[i], lb)) return einsum(formula.substr(0, i) + formula.substr(i + 1), sum(a, int(i)), b);
    for (size_t i = 0; i < lb.size(); ++i)
        if (alone(lb[i], la))
            return einsum(la + "," + lb.substr(0, i) + lb.substr(i + 1) + "->" + ly, a, sum(b, int(i)));
    return product(la, a, lb, b, ly, shape_of(ly, la, a, lb, b));
}

// y = a b, matrix by matrix of the leading axes, which broadcast
Tensor matmul(const Tensor& a, const Tensor& b) {
    Shape sa = a.shape(), sb = b.shape();
    if (sa.size() < 2 || sb.size() < 2) fail("matmul: ", shapes(a, b), ": both need at least two axes");
    if (sa.back() != sb[sb.size() - 2])
        fail("matmul: ", to_string(sa), " @ ", to_string(sb), ": inner sizes ", sa.back(), " and ", sb[sb.size() - 2],
             " differ");
    auto shape = broadcast_shape("matmul", value(a).shape(), value(b).shape(), 2);
    shape[shape.size() - 2] = size_t(sa[sa.size() - 2]), shape.back() = size_t(sb.back());
    std::string labels;  // of the leading axes, counted from the end
    for (size_t i = shape.size(); i > 2; --i) labels += char(i);
    auto leading = [&](const Shape& s) { return labels.substr(shape.size() - s.size()); };
    return product(leading(sa) + "mk", a, leading(sb) + "kn", b, labels + "mn", shape);
}

}  // namespace babygpt
