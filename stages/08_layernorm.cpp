// Stage 08: keep the numbers in range. New since 07: LayerNorm before attention and feed-forward, and at the end.
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

//> multihead
struct MultiHeadAttention : Module {
    std::vector<Head> heads;
    Linear proj;

    MultiHeadAttention(const Options& o, Rng& rng)
        : proj(o.n_embd, o.n_embd, rng) {
        add("proj", proj);
        for (int i = 0; i < o.n_head; ++i)
            add(str("heads.", i), heads.emplace_back(o.n_embd, o.n_embd / o.n_head, rng));
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        std::vector<Tensor> parts;
        for (const Head& head : heads) parts.push_back(head(x));  // (B, T, H) each
        return proj(concat(parts));                               // (B, T, C)
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
    Options defaults{.stage = "08_layernorm", .n_embd = 64, .n_head = 4, .n_layer = 3, .steps = 2000, .checkpoint = 0};
    return run_stage<Model>(argc, argv, defaults);
}
