// Stage 10: the GPT. New since 09: dropout, a careful start, a learning rate that rises and falls, and a real size.
#include <cmath>

#include "common/babygpt.h"
using namespace babygpt;

//> multihead
struct MultiHeadAttention : Module {
    Linear key, query, value;
    Linear proj;
    int n_head;
    Dropout dropout;

    MultiHeadAttention(const Options& o, Rng& rng)
        : key(o.n_embd, o.n_embd, rng, no_bias),
          query(o.n_embd, o.n_embd, rng, no_bias),
          value(o.n_embd, o.n_embd, rng, no_bias),
          proj(o.n_embd, o.n_embd, rng),
          n_head(o.n_head),
          dropout{o.dropout} {
        add("key", key), add("query", query), add("value", value);
        add("proj", proj);
    }

    Tensor operator()(const Tensor& x) const {                                         // (B, T, C)
        Tensor parts = causal_attention(query(x), key(x), value(x), n_head, dropout);  // (B, T, C)
        return dropout(proj(parts));                                                   // (B, T, C)
    }
};
//< multihead

//> feedforward
struct FeedForward : Module {
    Linear up, down;
    Dropout dropout;

    FeedForward(const Options& o, Rng& rng)
        : up(o.n_embd, 4 * o.n_embd, rng),
          down(4 * o.n_embd, o.n_embd, rng),
          dropout{o.dropout} {
        add("up", up), add("down", down);
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        return dropout(down(relu(up(x))));      // (B, T, 4C) inside, (B, T, C)
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
        for (auto& [name, tensor] : parameters) {  // start small, and smaller the more blocks add to x
            if (name.ends_with("bias")) fill_normal(tensor, 0, rng);
            if (tensor.shape().size() < 2) continue;  // a norm's gain stays 1
            bool adds_to_x = name.ends_with("proj.weight") || name.ends_with("down.weight");
            fill_normal(tensor, adds_to_x ? 0.02 / std::sqrt(2.0 * o.n_layer) : 0.02, rng);
        }
        fill_sinusoids(position_embedding.weight, 0.05);  // places near each other start alike
    }

    Tensor operator()(const Tokens& ids) const override {                        // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T));  // (B, T, C)
        x = blocks(x);                                                           // (B, T, C)
        return lm_head(norm(x));                                                 // (B, T, V)
    }
};
//< model

int main(int argc, char** argv) {
    Options defaults{.stage = "10_gpt",
                     .batch_size = 12,
                     .block_size = 128,
                     .n_embd = 96,
                     .n_head = 4,
                     .n_layer = 3,
                     .dropout = 0.02,
                     .steps = 3500,
                     .learning_rate = 5e-3,
                     .warmup = 100,
                     .decay = true,
                     .clip = 1,
                     .eval_batches = 20,
                     .checkpoint = 0};
    return run_stage<Model>(argc, argv, defaults);
}
