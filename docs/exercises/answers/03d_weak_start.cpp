// Bug hunt 03d: a head that hardly speaks at the start.
//
// One head of attention. A place's weights say how much it takes from each place it sees; they must sum to 1.
//
// The symptom: the first places of every block give very small numbers, and the later ones larger. The loss is worse
// than stage 03's, most of all at the first places. No result changes much when a later place changes, but every one
// changes a little.
//
// Check it: make exercise N=03d
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

    Tensor operator()(const Tensor& x) const {                            // (B, T, C)
        Tensor k = key(x), q = query(x), v = value(x);                    // (B, T, H)
        Tensor scores = matmul(q, transpose(k)) / std::sqrt(k.size(-1));  // (B, T, T)
        // First hide, then softmax. The other way round softmax shared the whole 1 among all T places, and the mask
        // then threw away what had gone to the future: place 0 kept perhaps 1 / T of it. -inf becomes a weight of 0.
        scores = masked_fill(scores, !tril(x.size(1)), -INFINITY);
        Tensor weights = softmax(scores);  // (B, T, T)
        return matmul(weights, v);         // (B, T, H)
    }
};
