// Bug hunt 09c: heads that mix up places.
//
// All heads at once, without einsum: the head's axis goes to the front, matmul does the rest.
//
// The symptom: it trains without complaint, but worse than with one head. Whatever stands at the beginning of a text,
// the places at its end do not know it. Every shape is right, and so is the mask.
//
// Check it: make exercise N=09c
#include <cmath>

#include "common/tensor/ops.h"
using namespace babygpt;

// q, k, v (B, T, C): queries, keys and values of all heads, side by side
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, int n_head) {
    int B = q.size(0), T = q.size(1), C = q.size(2), H = C / n_head;
    auto heads = [&](const Tensor& x) { return reshape(x, {B, n_head, T, H}); };  // (B, n_head, T, H)
    Tensor scores = matmul(heads(q), transpose(heads(k))) / std::sqrt(H);         // (B, n_head, T, T)
    Tensor weights = softmax(masked_fill(scores, !tril(T), -INFINITY));           // nobody looks ahead
    return reshape(matmul(weights, heads(v)), {B, T, C});                         // (B, T, C)
}
