// Task 12b: scores that know distances, as relative_key_query has them.
//
// q is (B, T, n_head, H), k is (B, S, n_head, H), and d (T, S, H) has a vector for each pair of places: d[i, j] belongs
// to their distance. It is the same for all heads and all texts. The score of query i and key j is
//     (q_i . k_j  +  q_i . d_ij  +  k_j . d_ij) / sqrt(H)                                     (B, n_head, T, S)
// No mask here: who may look where is another matter.
//
// Check it: make exercise N=12b
// Hint: each of the three sums of products is one einsum. Which letters does d have?
#include <cmath>

#include "common/tensor/ops.h"
using namespace babygpt;

Tensor relative_scores(const Tensor& q, const Tensor& k, const Tensor& d) {
    Tensor scores = einsum("bqhd,bkhd->bhqk", q, k);
    scores = scores + einsum("bqhd,qkd->bhqk", q, d);
    scores = scores + einsum("bkhd,qkd->bhqk", k, d);
    return scores / std::sqrt(q.size(-1));  // all of it: each part adds up H products
}
