// Parts of the stages that exercises build on, as stages/06_block.cpp has them.
#pragma once
#include <cmath>

#include "common/nn.h"
#include "common/options.h"

namespace parts {

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
        scores = masked_fill(scores, future(x.size(1)), -INFINITY);       // nobody looks ahead
        return matmul(softmax(scores), v);                                // (B, T, H)
    }
};

struct MultiHeadAttention : Module {
    std::vector<Head> heads;

    MultiHeadAttention(const Options& o, Rng& rng) {
        for (int i = 0; i < o.n_head; ++i)
            add(str("heads.", i), heads.emplace_back(o.n_embd, o.n_embd / o.n_head, rng));
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        std::vector<Tensor> results;
        for (const Head& head : heads) results.push_back(head(x));  // (B, T, H) each
        return concat(results);                                     // (B, T, C)
    }
};

struct FeedForward : Module {
    Linear up, down;

    FeedForward(const Options& o, Rng& rng)
        : up(o.n_embd, 4 * o.n_embd, rng),
          down(4 * o.n_embd, o.n_embd, rng) {
        add("up", up), add("down", down);
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        return down(relu(up(x)));               // (B, T, 4C) inside, (B, T, C)
    }
};

struct Block : Module {
    MultiHeadAttention attention;
    FeedForward feed_forward;

    Block(const Options& o, Rng& rng)
        : attention(o, rng),
          feed_forward(o, rng) {
        add("attention", attention), add("feed_forward", feed_forward);
    }

    Tensor operator()(Tensor x) const {  // (B, T, C)
        x = attention(x);
        x = feed_forward(x);
        return x;  // (B, T, C)
    }
};

}  // namespace parts
