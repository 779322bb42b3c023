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
    for (int b = 0; b < B; ++b)
        for (int h = 0; h < n_head; ++h)
            for (int q = 0; q < T; ++q)
                for (int k = 0; k < T; ++k)
                    for (int d = 0; d < H; ++d)  // the one letter that the result lacks: added up
                        result.values()[size_t(((b * n_head + h) * T + q) * T + k)] +=
                            Q.values()[size_t(((b * T + q) * n_head + h) * H + d)] *
                            K.values()[size_t(((b * T + k) * n_head + h) * H + d)];
    return result;
}

Tensor scores_pullback(const Tensor& dscores, const Tensor& K) {
    int B = K.size(0), T = K.size(1), n_head = K.size(2), H = K.size(3);
    Tensor dQ = Tensor::zeros(K.shape());
    // The same five loops: Q[b, q, h, d] went into every scores[b, h, q, k], times K[b, k, h, d].
    for (int b = 0; b < B; ++b)
        for (int h = 0; h < n_head; ++h)
            for (int q = 0; q < T; ++q)
                for (int k = 0; k < T; ++k)
                    for (int d = 0; d < H; ++d)
                        dQ.values()[size_t(((b * T + q) * n_head + h) * H + d)] +=
                            dscores.values()[size_t(((b * n_head + h) * T + q) * T + k)] *
                            K.values()[size_t(((b * T + k) * n_head + h) * H + d)];
    return dQ;
}
