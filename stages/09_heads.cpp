// Stage 09: all heads at once. New since 08: the heads are an axis of one tensor, and einsum multiplies along it.
#include <cmath>

#include "common/babygpt.h"
using namespace babygpt;

//> multihead
struct MultiHeadAttention : Module {
    Linear key, query, value;
    Linear proj;
    int n_head;

    MultiHeadAttention(const Options& o, Rng& rng)
        : key(o.n_embd, o.n_embd, rng, no_bias),
          query(o.n_embd, o.n_embd, rng, no_bias),
          value(o.n_embd, o.n_embd, rng, no_bias),
          proj(o.n_embd, o.n_embd, rng),
          n_head(o.n_head) {
        add("key", key), add("query", query), add("value", value);
        add("proj", proj);
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        auto heads = [&](const Tensor& y) { return reshape(y, {x.size(0), x.size(1), n_head, -1}); };
        Tensor k = heads(key(x)), q = heads(query(x)), v = heads(value(x));       // (B, T, n_head, H)
        Tensor scores = einsum("bqhd,bkhd->bhqk", q, k) / std::sqrt(k.size(-1));  // (B, n_head, T, T)
        scores = masked_fill(scores, !tril(x.size(1)), -INFINITY);                // nobody looks ahead
        Tensor parts = einsum("bhqk,bkhd->bqhd", softmax(scores), v);             // (B, T, n_head, H)
        return proj(reshape(parts, x.shape()));                                   // (B, T, C)
    }
};
//< multihead

//> feedforward
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
//< feedforward

//> block
struct Block : Module {
    MultiHeadAttention attention;
    FeedForward feed_forward;
    LayerNorm norm1, norm2;

    Block(const Options& o, Rng& rng)
        : attention(o, rng),
          feed_forward(o, rng),
          norm1(o.n_embd),
          norm2(o.n_embd) {
        add("attention", attention), add("feed_forward", feed_forward), add("norm1", norm1), add("norm2", norm2);
    }

    Tensor operator()(Tensor x) const {  // (B, T, C)
        x = x + attention(norm1(x));
        x = x + feed_forward(norm2(x));
        return x;  // (B, T, C)
    }
};
//< block

//> model
struct Model : LanguageModel {
    Embedding token_embedding, position_embedding;
    Sequential<Block> blocks;
    LayerNorm norm;
    Linear lm_head;

    Model(const Options& o, int vocab_size, Rng& rng)
        : token_embedding(vocab_size, o.n_embd, rng),
          position_embedding(o.block_size, o.n_embd, rng),
          norm(o.n_embd),
          lm_head(o.n_embd, vocab_size, rng) {
        add("token_embedding", token_embedding), add("position_embedding", position_embedding);
        add("norm", norm), add("lm_head", lm_head);
        for (int i = 0; i < o.n_layer; ++i) add(str("blocks.", i), blocks.emplace_back(o, rng));
    }

    Tensor operator()(const Tokens& ids) const override {                        // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T));  // (B, T, C)
        x = blocks(x);                                                           // (B, T, C)
        return lm_head(norm(x));                                                 // (B, T, V)
    }
};
//< model

int main(int argc, char** argv) {
    Options defaults{.stage = "09_heads", .n_embd = 64, .n_head = 4, .n_layer = 3, .steps = 2000, .checkpoint = 0};
    return run_stage<Model>(argc, argv, defaults);
}
