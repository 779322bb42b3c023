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
    // In memory the heads lie inside a place: (B, T, n_head, H). To see the numbers as (B, n_head, T, H) cuts the text
    // instead: "head 0" is then the first third of the places with all their heads, and no third sees another.
    auto heads = [&](const Tensor& x) { return transpose(reshape(x, {B, T, n_head, H}), 1, 2); };  // (B, n_head, T, H)
    Tensor scores = matmul(heads(q), transpose(heads(k))) / std::sqrt(H);                          // (B, n_head, T, T)
    Tensor weights = softmax(masked_fill(scores, !tril(T), -INFINITY));                            // nobody looks ahead
    return reshape(transpose(matmul(weights, heads(v)), 1, 2), {B, T, C});                         // (B, T, C)
}
