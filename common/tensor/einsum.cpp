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

enum Kind { batch, free_of_a, free_of_b, contracted };

struct Axis {  // a label: its size, and how far apart its numbers lie in a, b and y; 0 where it does not occur
    size_t size = 1, a = 0, b = 0, y = 0;
    Kind kind() const { return !y ? contracted : !b ? free_of_a : !a ? free_of_b : batch; }
    bool continues(const Axis& o) const {  // this inside of o is one long axis, in all three
        return a * size == o.a && b * size == o.b && y * size == o.y;
    }
};
using Axes = std::vector<Axis>;
using Stride = size_t Axis::*;

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

// Makes one axis of those of a kind, where memory allows.
void join(Axes& axes) {
    for (size_t i = axes.size(); i-- > 1;)
        for (size_t j = i; j-- > 0;)
            if (axes[i].kind() == axes[j].kind() && axes[i].continues(axes[j])) {
                axes[i].size *= axes[j].size;
                axes.erase(axes.begin() + std::ptrdiff_t(j));
                --i;
            }
}

// The labels of y, then those that are summed over.
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
    join(axes);
    return axes;
}

auto find_last(auto& axes, Kind kind) {
    return std::find_if(axes.rbegin(), axes.rend(), [kind](const Axis& axis) { return axis.kind() == kind; });
}
Axis last(const Axes& axes, Kind kind) {  // or one of size 1
    auto found = find_last(axes, kind);
    return found == axes.rend() ? Axis() : *found;
}

// Whether short axes of a kind would be one longer axis if they lay side by side in this operand. It pays to copy it
// then: a product prepares as much for four rows as for a hundred.
bool in_pieces(const Axes& axes, Kind kind, Stride stride) {
    Axis inner = last(axes, kind);
    size_t next = inner.*stride;
    for (size_t i = axes.size(); i-- > 0 && inner.size < 32;)
        if (axes[i].kind() == kind) {
            if (axes[i].*stride != next) return true;
            next *= axes[i].size;
        }
    return false;
}

// Gives an operand the strides of a copy that is laid out kind by kind. Returns the axes of the copying: `a` is where a
// number was, `y` where it goes.
Axes lay_out(Axes& axes, Stride stride) {
    std::ranges::stable_sort(axes, {}, &Axis::kind);
    Axes moves;
    size_t count = 1;
    for (size_t i = axes.size(); i-- > 0;)
        if (size_t& step = axes[i].*stride) {
            moves.insert(moves.begin(), {.size = axes[i].size, .a = step, .y = count});
            step = count;
            count *= axes[i].size;
        }
    return moves;
}

// to = beta to + from; where rows become columns, block by block, so that a line of the cache is read and written once.
void move(Axes axes, const real* from, real* to, real beta) {
    auto take = [&](Stride stride) {  // the axis along which numbers lie side by side
        auto found = std::ranges::find(axes, size_t{1}, stride);
        Axis axis = found == axes.end() ? Axis{.a = 1, .y = 1} : *found;
        if (found != axes.end()) axes.erase(found);
        return axis;
    };
    auto put = [=](const real* x, real* y, size_t n) {
        for (size_t i = 0; i < n; ++i) y[i] = x[i] + (beta == 0 ? 0 : beta * y[i]);
    };
    Axis row = take(&Axis::y);
    if (row.a == 1) return for_each(axes, [&](size_t was, size_t, size_t is) { put(from + was, to + is, row.size); });
    Axis column = take(&Axis::a);
    constexpr size_t width = 16;
    real block[width][width];
    for_each(axes, [&](size_t was, size_t, size_t is) {
        for (size_t i = 0; i < column.size; i += width)
            for (size_t j = 0; j < row.size; j += width) {
                size_t rows = std::min(width, column.size - i), columns = std::min(width, row.size - j);
                const real* x = from + was + i + j * row.a;
                for (size_t c = 0; c < columns; ++c)
                    for (size_t r = 0; r < rows; ++r) block[r][c] = x[c * row.a + r];
                for (size_t r = 0; r < rows; ++r) put(block[r], to + is + (i + r) * column.y + j, columns);
            }
    });
}

// y = beta y + the sums of products of a and b
void contract(const std::string& la, const Array& a, const std::string& lb, const Array& b, const std::string& ly,
              const Array::shape_type& shape, real* y, real beta) {
    Axes loops = axes_of(la, a.shape(), lb, b.shape(), ly, shape);
    const real *from_a = a.data(), *from_b = b.data();
    if (last(loops, free_of_a).y == 1) {  // y^T = b^T a^T
        std::swap(from_a, from_b);
        for (Axis& axis : loops) std::swap(axis.a, axis.b);
    }
    // Operands whose rows or columns do not lie side by side, or are in pieces, are copied.
    Array copy_of_a = no_numbers(), copy_of_b = no_numbers(), result = no_numbers();
    auto any_in_pieces = [&](Kind first, Kind second, Stride stride) {
        return in_pieces(loops, first, stride) || in_pieces(loops, second, stride);
    };
    auto copied = [&](const real* from, Stride stride, Array& copy) -> const real* {
        Axes moves = lay_out(loops, stride);
        copy = Array(Array::shape_type{moves[0].size * moves[0].y});
        move(moves, from, copy.data(), 0);
        return copy.data();
    };
    if (any_in_pieces(free_of_a, contracted, &Axis::a) ||
        (last(loops, free_of_a).a > 1 && last(loops, contracted).a > 1))
        from_a = copied(from_a, &Axis::a, copy_of_a);
    if (any_in_pieces(free_of_b, contracted, &Axis::b) ||
        (last(loops, free_of_b).b > 1 && last(loops, contracted).b > 1))
        from_b = copied(from_b, &Axis::b, copy_of_b);
    Axes moves;
    real *to = y, beta_of_result = beta;
    size_t count = std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
    if (any_in_pieces(free_of_a, free_of_b, &Axis::y) || last(loops, free_of_b).y > 1) {
        moves = lay_out(loops, &Axis::y);
        result = Array(Array::shape_type{count});
        to = result.data(), beta_of_result = 0;
    }
    join(loops);
    auto take = [&](Kind kind) {
        Axis axis = last(loops, kind);
        if (axis.size > 1) loops.erase(std::next(find_last(loops, kind)).base());
        return axis;
    };
    Axis m = take(free_of_a), n = take(free_of_b), k = take(contracted);
    bool sums = std::ranges::any_of(loops, [](const Axis& axis) { return axis.y == 0; });
    if (sums && beta_of_result == 0) std::fill_n(to, count, real(0)), beta_of_result = 1;

    bool a_transposed = k.a > 1, b_transposed = n.b > 1;
    Matrix rows_of_a{nullptr, a_transposed ? k.a : std::max(m.a, k.size), a_transposed};
    Matrix rows_of_b{nullptr, b_transposed ? n.b : std::max(k.b, n.size), b_transposed};
    for_each(loops, [&](size_t at_a, size_t at_b, size_t at_y) {
        rows_of_a.data = from_a + at_a, rows_of_b.data = from_b + at_b;
        gemm(m.size, n.size, k.size, 1, rows_of_a, rows_of_b, beta_of_result, to + at_y, std::max(m.y, n.size));
    });
    if (to == y) return;
    for (Axis& axis : moves) std::swap(axis.a, axis.y);
    move(moves, to, y, beta);
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
