// Task 09a: einsum by hand.
//
// Queries and keys of all heads are (B, T, n_head, H). The scores, "bqhd,bkhd->bhqk":
//   scores[b, h, q, k] = sum over d of Q[b, q, h, d] * K[b, k, h, d]                   (B, n_head, T, T)
// The gradient of Q, given that of the scores, is an einsum again, "bhqk,bkhd->bqhd":
//   dQ[b, q, h, d] = sum over k of dscores[b, h, q, k] * K[b, k, h, d]                 (B, T, n_head, H)
// Write both as loops, one for each letter. b and h are for each on its own, d (or k) is added up.
//
// Check it: make exercise N=09a
// Hint: number (b, t, h, d) of a tensor (B, T, n_head, H) is number ((b * T + t) * n_head + h) * H + d.
#include "common/tensor/tensor.h"
using namespace babygpt;

Tensor scores(const Tensor& Q, const Tensor& K) {
    int B = Q.size(0), T = Q.size(1), n_head = Q.size(2), H = Q.size(3);
    Tensor result = Tensor::zeros({B, n_head, T, T});
    // your code here
    return result;
}

Tensor scores_pullback(const Tensor& dscores, const Tensor& K) {
    Tensor dQ = Tensor::zeros(K.shape());
    // your code here
    return dQ;
}
