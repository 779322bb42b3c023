// Bug hunt 01c: a model that learns too well.
//
// A bigram model and its training loop, as in stage 01. `text` is written by dice, so that nobody can know the next
// character for sure.
//
// The symptom: the loss falls to almost 0, far below the floor that is known for this text. What it writes is one
// letter, again and again.
//
// Check it: make exercise N=01c
#include <vector>

#include "common/nn/optim.h"
#include "common/text/batches.h"
using namespace babygpt;

struct Model : LanguageModel {
    Embedding table;  // (V, V): row a holds the scores of what comes after a

    Model(int vocab_size, Rng& rng)
        : table(vocab_size, vocab_size, rng) {
        add("table", table);
    }
    Tensor operator()(const Tokens& ids) const override { return table(ids); }  // (B, T) -> (B, T, V)
};

// B pieces of T characters from anywhere in the text, and what is to be guessed at each place.
Batch cut_batch(const std::vector<int>& text, int B, int T, Rng& rng) {
    Batch batch{Tokens(B, T), Tokens(B, T)};
    for (int b = 0; b < B; ++b) {
        size_t start = rng.below(text.size() - size_t(T));
        for (int t = 0; t < T; ++t) {
            batch.x.ids[size_t(b * T + t)] = text[start + size_t(t)];
            batch.y.ids[size_t(b * T + t)] = text[start + size_t(t)];
        }
    }
    return batch;
}

// Returns the loss of the last step.
double train(Model& model, const std::vector<int>& text, int steps, Rng& rng) {
    AdamW optimiser(model.parameters);
    double last = 0;
    for (int step = 0; step < steps; ++step) {
        Batch batch = cut_batch(text, 16, 16, rng);
        Tensor loss = cross_entropy(model(batch.x), batch.y);
        loss.backward();
        optimiser.step(0.1);
        last = loss.item();
    }
    return last;
}
