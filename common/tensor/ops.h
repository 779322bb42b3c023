// Operations on tensors. Where two shapes differ they are broadcast as in NumPy: aligned at the last axis, sizes of 1
// repeated. A Tensor taken by value may give its memory to the result when it was a temporary, as in relu(up(x)).
#pragma once
#include <cstdint>

#include "common/tensor/masks.h"
#include "common/tensor/tensor.h"

namespace babygpt {

// A batch of token numbers, (B, T).
struct Tokens {
    int B, T;
    std::vector<int> ids;  // row by row
    Tokens(int batch, int time, std::vector<int> numbers);
    Tokens(int batch, int time);  // all 0
};

Tensor operator+(Tensor a, Tensor b);
Tensor operator-(Tensor a, Tensor b);
Tensor operator*(Tensor a, Tensor b);
Tensor operator*(Tensor a, double factor);
Tensor operator/(Tensor a, double divisor);
Tensor sum(const Tensor& x);            // of all numbers
Tensor sum(const Tensor& x, int axis);  // along an axis, which goes; as everywhere below, -1 is the last one

Tensor reshape(Tensor x, Shape shape);  // the same numbers, cut otherwise; a size of -1 is what is left for it
Tensor transpose(const Tensor& x, int axis1 = -2, int axis2 = -1);  // swaps two axes
Tensor concat(const std::vector<Tensor>& parts, int axis = -1);     // one after another along an axis
Tensor slice(const Tensor& x, int axis, int first, int last);       // places first to last - 1 of an axis

// Sums of products, as a formula names them: in "bqhd,bkhd->bhqk" the letters are the axes of a, of b and of the
// result. Letters that the result lacks are summed over.
Tensor einsum(const std::string& formula, const Tensor& a, const Tensor& b);
Tensor matmul(const Tensor& a, const Tensor& b);  // (..., M, K) @ (..., K, N) -> (..., M, N); leading axes broadcast
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});  // (..., in) @ (out, in)^T + (out)
Tensor embedding(const Tensor& table, const Tokens& ids);                       // (V, C), (B, T) -> (B, T, C)

Tensor relu(Tensor x);
Tensor gelu(Tensor x);  // x/2 (1 + erf(x / sqrt 2))
Tensor tanh(Tensor x);
Tensor masked_fill(Tensor x, Mask mask, real fill);  // where the mask, broadcast to x, is true
Tensor softmax(Tensor x);  // over the last axis; a row of nothing but -inf (all hidden) becomes zeros
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon = 1e-5);
// Zeroes a share p of x and scales the rest by 1 / (1 - p); key picks which. Of a larger batch, x may be the rows from
// first_row on: they lose what they would lose in the whole.
Tensor dropout(Tensor x, double p, uint64_t key, int first_row = 0);

// Mean over the positions of -log(probability of the target), from logits (..., V) for as many targets as there are
// rows. Targets of ignore_index do not count; when none does, the loss is 0. The mean may be over a part of a larger
// batch: then `of` is the number of targets that count in the whole, and the parts' losses add up.
constexpr int ignore_index = -100;
Tensor cross_entropy(Tensor logits, const Tokens& targets, size_t of = 0);

// Attention of n_head heads side by side: each of q's places (B, T, C) looks at those of k and v (B, S, C) that are
// visible to it. `visible` is broadcast to (B, n_head, T, S).
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, int n_head, const Mask& visible);  // (B, T, C)

// All heads of causal self-attention in one pass. q, k, v (B, T, C) hold queries, keys and values of n_head heads side
// by side. For each head it is matmul(dropout(softmax(masked_fill(q k^T / sqrt(head_size), !tril(T), -inf))), v).
Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v, int n_head, double p = 0, uint64_t key = 0,
                        int first_row = 0);

}  // namespace babygpt
