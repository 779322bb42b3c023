// Bug hunt 11c: right up to the block size, wrong beyond.
//
// A model of one head, and a writer that keeps keys and values. The writer is given one character after the other and
// returns the scores of the next.
//
// The symptom: for the first block_size characters the scores are those of the model itself. From the next one on they
// differ, and a trained model begins to write nonsense there. It is as fast as before.
//
// Check it: make exercise N=11c
#include "docs/exercises/parts.h"
using namespace babygpt;

struct Model : LanguageModel {
    Embedding token_embedding, position_embedding;
    parts::Head head;
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
        return lm_head(head(x));                                                 // (B, T, V)
    }
};

struct CachedWriter {
    const Model& model;
    const Options& o;
    std::vector<int> read;           // the characters in the cache
    std::vector<real> keys, values;  // (places, C): one row for each of them

    // The character c comes next. Returns the scores of what follows it: (1, 1, V)
    Tensor operator()(int c) {
        NoGrad writing;
        if (int(read.size()) == o.block_size) {  // the window slides: the oldest character leaves it
            // All others move one place forward. Their keys and values were made with the vectors of the places they
            // stood at, so none of them is right any more, and taking out the oldest is not enough. Read them again.
            std::vector<int> window(read.begin() + 1, read.end());
            read.clear(), keys.clear(), values.clear();
            for (int old : window) step(old);
        }
        return step(c);
    }

    Tensor step(int c) {
        Tensor x = token_at(c, int(read.size()));                                        // (1, 1, C)
        Tensor q = model.head.query(x), k = model.head.key(x), v = model.head.value(x);  // (1, 1, C)
        read.push_back(c);
        keys.insert(keys.end(), k.values().begin(), k.values().end());
        values.insert(values.end(), v.values().begin(), v.values().end());
        Shape kept{1, int(read.size()), o.n_embd};
        Tensor scores = matmul(q, transpose(Tensor(kept, keys))) / std::sqrt(o.n_embd);  // (1, 1, places)
        return model.lm_head(matmul(softmax(scores), Tensor(kept, values)));             // (1, 1, V)
    }

    Tensor token_at(int c, int place) const {
        return model.token_embedding(Tokens(1, 1, {c})) + model.position_embedding(Tokens(1, 1, {place}));
    }
};
