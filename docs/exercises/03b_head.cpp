// Task 03b: one head of attention.
//
// x (B, T, C) holds a vector of C = n_embd numbers at each place. Three linear layers make of it, with H = head_size:
//   q = query(x)   what each place looks for         (B, T, H)
//   k = key(x)     what each place has to offer      (B, T, H)
//   v = value(x)   what it says when asked           (B, T, H)
// Then
//   scores = q k^T / sqrt(H)                         (B, T, T): scores[b, i, j] is how well q of i fits k of j
//   scores = -inf wherever j > i                     nobody looks ahead
//   weights = softmax(scores)                        (B, T, T): each row sums to 1
//   result = weights v                               (B, T, H)
//
// Check it: make exercise N=03b
// Hint: common/tensor/ops.h has matmul, transpose, masked_fill, tril and softmax. `/` divides a Tensor by a number.
#include <cmath>

#include "common/nn/nn.h"
using namespace babygpt;

struct Head : Module {
    Linear key, query, value;

    Head(int n_embd, int head_size, Rng& rng)
        : key(n_embd, head_size, rng, no_bias),
          query(n_embd, head_size, rng, no_bias),
          value(n_embd, head_size, rng, no_bias) {
        add("key", key), add("query", query), add("value", value);
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        // your code here
        return Tensor::zeros({x.size(0), x.size(1), key.weight.size(0)});  // (B, T, H)
    }
};
