// Task 14a: look at another text.
//
// One head of cross-attention. x (B, T, C) is what is being written, `read` (B, S, C) what an encoder made of the text
// to translate. Its rows are of different lengths; `seen` (B, 1, S) is true where a token is, false at padding.
//   q = query(x)                                             (B, T, H)
//   k = key(read), v = value(read)                           (B, S, H)
//   scores = q k^T / sqrt(H), -infinity at padding           (B, T, S)
//   result = softmax(scores) v                               (B, T, H)
// The text was there before the first character is written: nothing of it is the future, so there is no causal mask.
//
// Check it: make exercise N=14a
// Hint: matmul(q, transpose(k)), masked_fill(scores, mask, -INFINITY) and !mask are what stage 03 uses.
#include <cmath>

#include "docs/exercises/parts.h"
using namespace babygpt;

struct CrossHead : Module {
    Linear key, query, value;

    CrossHead(int n_embd, int head_size, Rng& rng)
        : key(n_embd, head_size, rng, no_bias),
          query(n_embd, head_size, rng, no_bias),
          value(n_embd, head_size, rng, no_bias) {
        add("key", key), add("query", query), add("value", value);
    }

    Tensor operator()(const Tensor& x, const Tensor& read, const Mask& seen) const {
        // Questions come from the writer, answers from the reader. Only the number of places differs: T and S.
        Tensor q = query(x), k = key(read), v = value(read);
        Tensor scores = matmul(q, transpose(k)) / std::sqrt(k.size(-1));
        return matmul(softmax(masked_fill(scores, !seen, -INFINITY)), v);
    }
};
