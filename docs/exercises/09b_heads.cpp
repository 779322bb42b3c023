// Task 09b: all heads at once, as BERT writes it.
//
// No einsum here: the head's axis goes to the front, and matmul, which multiplies the last two axes for each of the
// leading ones, does the rest.
//   split_heads(x):  (B, T, C) seen as (B, T, n_head, H), then axes 1 and 2 exchanged       (B, n_head, T, H)
//   merge_heads(x):  the way back                                                           (B, T, C)
//   attend(q, k, v): softmax(mask(q k^T / sqrt(H))) v for every head                        (B, T, C)
// q, k and v are (B, T, C), queries, keys and values of all heads side by side. Nobody looks ahead.
//
// Check it: make exercise N=09b
// Hint: reshape(x, {...}) sees the same numbers in another shape, transpose(x, 1, 2) moves them. transpose(x) exchanges
// the last two axes. masked_fill(scores, !tril(T), -INFINITY) serves all heads: the mask is broadcast.
#include <cmath>

#include "common/tensor/ops.h"
using namespace babygpt;

Tensor split_heads(const Tensor& x, int n_head) {
    // your code here
    return x;
}

Tensor merge_heads(const Tensor& x) {
    // your code here
    return x;
}

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, int n_head) {
    // your code here
    return v;
}
