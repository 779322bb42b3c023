// Bug hunt 06c: two of three blocks never learn.
//
// The model of stage 06, with Block as it is there. n_layer blocks on top of each other, each with weights of its own.
//
// The symptom: the number of parameters is right, and the loss falls. But the blocks above the first hold the numbers
// they began with, to the last digit, after any number of steps. And the first one learns at three times the rate.
//
// Check it: make exercise N=06c
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
        for (int i = 0; i < o.n_layer; ++i) {
            blocks.emplace_back(o, rng);
            // back(), the block just made. front() registered the first one again and again: the optimiser moved it
            // once for each name, and never heard of the others.
            add(str("blocks.", i), blocks.back());
        }
    }

    Tensor operator()(const Tokens& ids) const override {                        // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T));  // (B, T, C)
        for (const Block& block : blocks) x = block(x);                          // (B, T, C)
        return lm_head(x);                                                       // (B, T, V)
    }
};
