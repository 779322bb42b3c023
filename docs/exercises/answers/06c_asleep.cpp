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
    Embedding token, position;
    std::vector<Block> blocks;
    Linear to_logits;

    Model(const Options& o, int vocab_size, Rng& rng)
        : token(vocab_size, o.n_embd, rng),
          position(o.block_size, o.n_embd, rng),
          to_logits(o.n_embd, vocab_size, rng) {
        add("token", token), add("position", position), add("to_logits", to_logits);
        for (int i = 0; i < o.n_layer; ++i) {
            blocks.emplace_back(o, rng);
            // back(), the block just made. front() registered the first one again and again: the optimiser moved it
            // once for each name, and never heard of the others.
            add(str("blocks.", i), blocks.back());
        }
    }

    Tensor operator()(const Tokens& ids) const override {    // (B, T)
        Tensor x = token(ids) + position(positions(ids.T));  // (B, T, C)
        for (const Block& block : blocks) x = block(x);      // (B, T, C)
        return to_logits(x);                                 // (B, T, V)
    }
};
