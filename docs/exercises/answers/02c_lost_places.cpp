// Bug hunt 02c: a model that does not know where it is.
//
// The model of stage 02: a vector for the character plus a vector for its place, and a linear layer to the scores.
//
// The symptom: in a batch of one row a character gets the same scores at every place, as if there were
// no positions at all. In a batch the same sentence gets other scores in the second row than in the first. Nothing
// fails while the batch has at most block_size rows; with more, the core complains of a row that does not exist.
//
// Check it: make exercise N=02c
#include "common/base/options.h"
#include "common/nn/nn.h"
using namespace babygpt;

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

    // At which place each character stands: every row of the batch starts at place 0.
    static Tokens places(const Tokens& ids) {
        Tokens result(ids.B, ids.T);
        for (int i = 0; i < ids.B * ids.T; ++i) {
            // i = b * T + t, so the place t is the rest, i % T. i / T is b: it gave each row of the batch one place.
            result.ids[size_t(i)] = i % ids.T;
        }
        return result;
    }

    Tensor operator()(const Tokens& ids) const override {                   // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(places(ids));  // (B, T, C)
        return lm_head(x);                                                  // (B, T, V)
    }
};
