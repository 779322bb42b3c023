// Stage 03: one head of self-attention. New since 02: struct Head, and Model sends x through it.
#include <cmath>

#include "common/babygpt.h"
using namespace babygpt;

//> head
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
        scores = masked_fill(scores, !tril(x.size(1)), -INFINITY);        // nobody looks ahead
        return matmul(softmax(scores), v);                                // (B, T, H)
    }
};
//< head

//> model
struct Model : LanguageModel {
    Embedding token_embedding, position_embedding;
    Head head;
    Linear lm_head;

    Model(const Options& o, int vocab_size, Rng& rng)
        : token_embedding(vocab_size, o.n_embd, rng),
          position_embedding(o.block_size, o.n_embd, rng),
          head(o.n_embd, o.n_embd, rng),
          lm_head(o.n_embd, vocab_size, rng) {
        add("token_embedding", token_embedding), add("position_embedding", position_embedding);
        add("head", head), add("lm_head", lm_head);
    }

    Tensor operator()(const Tokens& ids) const override {                        // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T));  // (B, T, C)
        x = head(x);                                                             // (B, T, C)
        return lm_head(x);                                                       // (B, T, V)
    }
};
//< model

int main(int argc, char** argv) {
    Options defaults{.stage = "03_head", .n_embd = 64};
    return run_stage<Model>(argc, argv, defaults);
}
