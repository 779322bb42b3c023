// Bug hunt 12c: right at once, right one by one, wrong in between.
//
// One head whose scores know distances, with a cache of keys and values. It is given new places and returns what they
// attend to; what came before is kept.
//
// The symptom: a text that is read at once comes out right. A text that is read character by character comes out right.
// But when several characters are added to a text that has been read, as when a person answers in a chat, all of them
// but the last are wrong. A library had this mistake for years; people add one character at a time, and nobody saw it.
//
// Check it: make exercise N=12c
#include <algorithm>
#include <cmath>

#include "docs/exercises/parts.h"
using namespace babygpt;

struct RelativeHead : Module {
    Linear key, query, value;
    Embedding distance_embedding;  // (2 max - 1, H)
    int max;
    Tensor keys, values;  // (B, places, H): the cache

    RelativeHead(int n_embd, int head_size, int max_places, Rng& rng)
        : key(n_embd, head_size, rng, no_bias),
          query(n_embd, head_size, rng, no_bias),
          value(n_embd, head_size, rng, no_bias),
          distance_embedding(2 * max_places - 1, head_size, rng),
          max(max_places) {
        add("key", key), add("query", query), add("value", value), add("distance_embedding", distance_embedding);
    }

    Tensor operator()(const Tensor& x) {  // (B, new, C)
        bool cached = keys.node != nullptr;
        keys = cached ? concat({keys, key(x)}, 1) : key(x);
        values = cached ? concat({values, value(x)}, 1) : value(x);
        int rows = x.size(1), columns = keys.size(1);
        Tokens index(rows, columns);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) {
                // The query of row i stands after all that was kept and the i new ones before it. With one new place
                // that is columns - 1, with an empty cache it is i: both branches were right for their own case only.
                int place = columns - rows + i;
                index.ids[size_t(i * columns + j)] = std::clamp(place - j, 1 - max, max - 1) + max - 1;
            }
        Tensor d = distance_embedding(index), q = query(x);                         // (new, T, H), (B, new, H)
        Tensor scores = matmul(q, transpose(keys)) + einsum("bqd,qkd->bqk", q, d);  // (B, new, T)
        scores = masked_fill(scores / std::sqrt(q.size(-1)), !tril(rows, columns), -INFINITY);
        return matmul(softmax(scores), values);  // (B, new, H)
    }
};
