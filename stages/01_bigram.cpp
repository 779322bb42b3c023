// Stage 01: the same table, found by gradient descent. New since 00: a model with parameters, a loss with gradients,
// and the loop that every later stage trains by, written out.
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

//> model
struct Model : LanguageModel {
    Embedding table;  // (V, V): row a holds the scores of what comes after a

    Model(const Options&, int vocab_size, Rng& rng)
        : table(vocab_size, vocab_size, rng) {
        add("table", table);
    }

    Tensor operator()(const Tokens& ids) const override {  // (B, T)
        return table(ids);                                 // (B, T, V)
    }
};
//< model

//> train
void train(const Options& o) {
    Corpus corpus = load_corpus(o.data);
    check_fit(o, corpus);
    Rng initialisation(o.seed, "initialisation"), batches(o.seed, "batches");
    Model model(o, corpus.vocabulary.size(), initialisation);
    AdamW optimiser(model.parameters, o.weight_decay, o.beta1, o.beta2);
    Run run(o, corpus, model.parameter_count());

    for (int step = run.resume(model, optimiser, batches);; ++step) {
        if (run.due(step)) run.record(step, evaluate(model, corpus, o), &model);
        run.save(step, model, optimiser, batches);
        if (run.ends(step)) break;
        Batch batch = random_batch(corpus.train, o.batch_size, o.block_size, batches);  // x, y: (B, T)
        Tensor loss = cross_entropy(model(batch.x), batch.y);                           // how wrong the guesses are
        loss.backward();                  // which way is uphill, for each parameter
        optimiser.step(o.learning_rate);  // a step downhill
        run.trained(step, loss.item());
    }
    std::printf("\ncounted %.4f (stage 00), learnt %.4f: %+.4f nats\n", run.baselines.bigram, run.best.val,
                run.best.val - run.baselines.bigram);
    run.finish(model);
}
//< train

int main(int argc, char** argv) {
    Options defaults{.stage = "01_bigram", .steps = 3000, .learning_rate = 3e-2};
    return run_stage<Model>(argc, argv, defaults, train);
}
