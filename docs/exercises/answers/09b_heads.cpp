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
    Tensor heads = reshape(x, {x.size(0), x.size(1), n_head, x.size(2) / n_head});  // (B, T, n_head, H)
    return transpose(heads, 1, 2);                                                  // (B, n_head, T, H)
}

Tensor merge_heads(const Tensor& x) {
    Tensor places = transpose(x, 1, 2);                                     // (B, T, n_head, H)
    return reshape(places, {x.size(0), x.size(2), x.size(1) * x.size(3)});  // (B, T, C)
}

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, int n_head) {
    Tensor scores = matmul(split_heads(q, n_head), transpose(split_heads(k, n_head)));  // (B, n_head, T, T)
    // A score adds up H products, so sqrt(H) is its natural size, not sqrt(C).
    scores = masked_fill(scores / std::sqrt(q.size(2) / n_head), !tril(q.size(1)), -INFINITY);
    return merge_heads(matmul(softmax(scores), split_heads(v, n_head)));  // (B, T, C)
}
