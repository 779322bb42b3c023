// Task 06a: blocks on top of each other.
//
// Block is stage 06's: it takes x (B, T, C) to (B, T, C). The model has n_layer of them, each with weights of its own:
//   x = token_embedding(ids) + position_embedding(0 .. T - 1)              (B, T, C)
//   x = blocks[0](x), then x = blocks[1](x), ...       (B, T, C): each block works on what the one below made
//   logits = lm_head(x)                              (B, T, V)
// The constructor makes the blocks and registers them as "blocks.0", "blocks.1", ...
//
// Check it: make exercise N=06a
// Hint: blocks.emplace_back(o, rng) makes a block in place and returns it, ready for add(str("blocks.", i), ...).
#include "docs/exercises/parts.h"
using namespace babygpt;
using parts::Block;

struct Model : LanguageModel {
    Embedding token_embedding, position_embedding;
    std::vector<Block> blocks;
    Linear lm_head;

    Model(const Options& o, int vocab_size, Rng& rng)
        : token_embedding(vocab_size, o.n_embd, rng),
          position_embedding(o.block_size, o.n_embd, rng),
          lm_head(o.n_embd, vocab_size, rng) {
        add("token_embedding", token_embedding), add("position_embedding", position_embedding);
        add("lm_head", lm_head);
        // your code here
    }

    Tensor operator()(const Tokens& ids) const override {                        // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T));  // (B, T, C)
        // your code here
        return lm_head(x);  // (B, T, V)
    }
};
