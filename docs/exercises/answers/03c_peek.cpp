// Bug hunt 03c: a head that knows too much.
//
// One head of attention that makes its own mask. mask[i, j] is 1 where place i must not see place j.
//
// The symptom: while training the loss falls to almost 0 within a few hundred steps. What it writes is nonsense, as if
// it had learnt nothing. When writing there is nothing ahead to see; in training there is.
//
// Check it: make exercise N=03c
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

    static Mask ahead(int T) {
        Mask mask{{T, T}, std::vector<char>(size_t(T) * size_t(T), 0)};
        for (int i = 0; i < T; ++i)
            for (int j = 0; j < T; ++j) {
                // Everything after i. With `j > i + 1` place i saw the next place, and what stands there is exactly
                // what it has to guess: it copied the answer, and learnt nothing else.
                mask.values[size_t(i * T + j)] = j > i;
            }
        return mask;
    }

    Tensor operator()(const Tensor& x) const {                            // (B, T, C)
        Tensor k = key(x), q = query(x), v = value(x);                    // (B, T, H)
        Tensor scores = matmul(q, transpose(k)) / std::sqrt(k.size(-1));  // (B, T, T)
        scores = masked_fill(scores, ahead(x.size(1)), -INFINITY);        // (B, T, T)
        return matmul(softmax(scores), v);                                // (B, T, H)
    }
};
