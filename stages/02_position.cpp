// Stage 02: vectors for characters and for places. New since 01: two embeddings of n_embd numbers, added, and a linear
// layer to the scores. Training is in common/ from here on.
#include "common/babygpt.h"
using namespace babygpt;

//> model
struct Model : LanguageModel {
    Embedding token_embedding, position_embedding;
    Linear lm_head;

    Model(const Options& o, int vocab_size, Rng& rng)
        : token_embedding(vocab_size, o.n_embd, rng),
          position_embedding(o.block_size, o.n_embd, rng),
          lm_head(o.n_embd, vocab_size, rng) {
        add("token_embedding", token_embedding), add("position_embedding", position_embedding);
        add("lm_head", lm_head);
    }

    Tensor operator()(const Tokens& ids) const override {                        // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T));  // (B, T, C)
        return lm_head(x);                                                       // (B, T, V)
    }
};
//< model

int main(int argc, char** argv) {
    Options defaults{.stage = "02_position", .n_embd = 64};
    return run_stage<Model>(argc, argv, defaults);
}
