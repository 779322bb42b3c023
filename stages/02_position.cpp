// Stage 02: vectors for characters and for places. New since 01: two embeddings of n_embd numbers, added, and a linear
// layer to the scores. Training is in common/ from here on.
#include "common/babygpt.h"
using namespace babygpt;

//> model
struct Model : LanguageModel {
    Embedding token, position;
    Linear to_logits;

    Model(const Options& o, int vocab_size, Rng& rng)
        : token(vocab_size, o.n_embd, rng),
          position(o.block_size, o.n_embd, rng),
          to_logits(o.n_embd, vocab_size, rng) {
        add("token", token), add("position", position), add("to_logits", to_logits);
    }

    Tensor operator()(const Tokens& ids) const override {    // (B, T)
        Tensor x = token(ids) + position(positions(ids.T));  // (B, T, C)
        return to_logits(x);                                 // (B, T, V)
    }
};
//< model

int main(int argc, char** argv) {
    Options defaults{.stage = "02_position", .n_embd = 64};
    return run_stage<Model>(argc, argv, defaults);
}
