// Task 03a: hide the future.
//
// In scores (B, T, T), scores[b, i, j] says how much place i wants to know of place j. Place i may look at itself and
// back, not ahead. A Mask has a shape and `values` of 0 or 1, row by row: here 1 where nothing may be seen.
//   hide_future(T): mask[i, j] = 1 where j > i, else 0                           (T, T)
//   fill_hidden(x): y[b, i, j] = fill where mask[i, j], else x[b, i, j]          (B, rows, columns)
//   its pullback:  dx[b, i, j] = 0 where mask[i, j], else dy[b, i, j]            (B, rows, columns)
// The fill will be -inf: softmax turns it into a weight of exactly 0. The same mask serves all B matrices.
//
// Check it: make exercise N=03a
// Hint: y[b, i, j] is number (b * rows + i) * columns + j. Do not multiply by the mask: 0 * inf is not a number.
#include "common/tensor/ops.h"
using namespace babygpt;

Mask hide_future(int T) {
    Mask mask{{T, T}, std::vector<char>(size_t(T) * size_t(T), 0)};
    // your code here
    return mask;
}

Tensor fill_hidden(const Tensor& x, const Mask& mask, real fill) {
    Tensor y(x.shape(), x.values());  // a copy
    // your code here
    return y;
}

Tensor fill_hidden_pullback(const Tensor& dy, const Mask& mask) {
    Tensor dx(dy.shape(), dy.values());  // a copy
    // your code here
    return dx;
}
