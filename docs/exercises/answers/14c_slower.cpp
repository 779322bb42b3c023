// Bug hunt 14c: every number is right, and every character takes longer than the one before.
//
// One head of cross-attention with a cache. It is given the vectors of new places and what the encoder made of the text
// to translate, and returns what the new places find there. There is no padding: it reads one text.
//
// The symptom: what it returns is right, to the last digits, at every step; no test of the numbers finds anything. But
// the memory grows with every character, and so does the time: from the second character on it does more work than
// without a cache.
//
// Check it: make exercise N=14c
#include <cmath>

#include "docs/exercises/parts.h"
using namespace babygpt;

struct CachedCrossHead : Module {
    Linear key, query, value;
    Tensor keys, values;  // (B, S, H): the cache

    CachedCrossHead(int n_embd, int head_size, Rng& rng)
        : key(n_embd, head_size, rng, no_bias),
          query(n_embd, head_size, rng, no_bias),
          value(n_embd, head_size, rng, no_bias) {
        add("key", key), add("query", query), add("value", value);
    }

    Tensor operator()(const Tensor& x, const Tensor& read) {  // (B, new, C), (B, S, C)
        // The text that is read is complete from the start: its keys and values are computed once, and never appended
        // to, as those of the written text are. Appended, every key stood there n times after n steps. Each copy then
        // took an n-th of the weight, and n times an n-th is what it was: that is why the numbers were right.
        if (!keys.node) keys = key(read), values = value(read);                        // (B, S, H)
        Tensor scores = matmul(query(x), transpose(keys)) / std::sqrt(keys.size(-1));  // (B, new, S)
        return matmul(softmax(scores), values);                                        // (B, new, H)
    }
};
