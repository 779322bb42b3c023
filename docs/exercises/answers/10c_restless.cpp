// Bug hunt 10c: the same question, another answer.
//
// A small GPT with dropout, its training, and a writer that always takes the likeliest character (temperature 0).
//
// The symptom: after training it writes several times from the same prompt. There are no dice in the writing, and still
// the texts differ. They are also worse than the loss promises.
//
// Check it: make exercise N=10c
#include <algorithm>

#include "common/nn/optim.h"
#include "common/write/sampler.h"
#include "docs/exercises/parts.h"
using namespace babygpt;

struct Model : LanguageModel {
    Embedding token_embedding, position_embedding;
    parts::MultiHeadAttention attention;
    parts::FeedForward feed_forward;
    Linear lm_head;
    Dropout dropout;

    Model(const Options& o, int vocab_size, Rng& rng)
        : token_embedding(vocab_size, o.n_embd, rng),
          position_embedding(o.block_size, o.n_embd, rng),
          attention(o, rng),
          feed_forward(o, rng),
          lm_head(o.n_embd, vocab_size, rng),
          dropout{o.dropout} {
        add("token_embedding", token_embedding), add("position_embedding", position_embedding);
        add("attention", attention), add("feed_forward", feed_forward), add("lm_head", lm_head);
    }

    Tensor operator()(const Tokens& ids) const override {                        // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T));  // (B, T, C)
        x = x + dropout(attention(x));                                           // (B, T, C)
        x = x + dropout(feed_forward(x));                                        // (B, T, C)
        return lm_head(x);                                                       // (B, T, V)
    }
};

std::vector<int> write(const Model& model, const Options& o, std::vector<int> context) {
    NextLogits next = next_logits(model, o.block_size);
    for (int i = 0; i < o.tokens; ++i) {
        std::vector<real> logits = next(context);  // (V)
        context.push_back(int(std::max_element(logits.begin(), logits.end()) - logits.begin()));
    }
    return context;
}

// Trains, then writes o.count texts from the prompt. `noise` is where dropout masks come from.
std::vector<std::vector<int>> train_and_write(Model& model, const std::vector<int>& text, const Options& o,
                                              const std::vector<int>& prompt, Rng& noise) {
    AdamW optimiser(model.parameters);
    Rng batches(o.seed, "batches");
    for (int step = 0; step < o.steps; ++step) {
        // Dropout is on while a DropoutScope lives. Declared before the loop, it lived on until the function's end,
        // and the writing below was done with a share of the numbers missing, others each time.
        DropoutScope training(noise);
        Batch batch = random_batch(text, o.batch_size, o.block_size, batches);  // x, y: (B, T)
        Tensor loss = cross_entropy(model(batch.x), batch.y);
        loss.backward();
        optimiser.step(o.learning_rate);
    }
    std::vector<std::vector<int>> texts;
    for (int i = 0; i < o.count; ++i) texts.push_back(write(model, o, prompt));
    return texts;
}
