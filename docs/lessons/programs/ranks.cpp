// Four ranks that learn stage 01's table, simulated in one program, as they should and with two mistakes. What an
// all-reduce costs, around a ring and through one rank.
#include <cstdio>

#include "common/babygpt.h"
#include "common/train/evaluate.h"
#define main stage_main
#include "stages/01_bigram.cpp"
#undef main

namespace {

enum Mistake { none, other_tables, same_rows };

// The loss of rank 0, and how far the table of the last rank is from its own.
void learn(const char* name, const Corpus& corpus, const Options& o, int ranks, Mistake mistake) {
    Rng batches(o.seed, "batches");
    std::vector<Model> models;
    std::vector<AdamW> optimisers;
    for (int rank = 0; rank < ranks; ++rank) {
        Rng initialisation(o.seed + uint64_t(mistake == other_tables ? rank : 0), "initialisation");
        models.emplace_back(o, corpus.vocabulary.size(), initialisation);
        optimisers.emplace_back(models.back().parameters, o.weight_decay, o.beta1, o.beta2);
    }
    for (int step = 0; step < o.steps; ++step) {
        Batch batch = random_batch(corpus.train, o.batch_size, o.block_size, batches);
        TextBatch rows(batch);
        std::vector<real> sum(models[0].table.weight.count(), 0);
        for (int rank = 0; rank < ranks; ++rank) {
            int share = mistake == same_rows ? 0 : rank;
            rows.loss(models[size_t(rank)], o.batch_size * share / ranks, o.batch_size * (share + 1) / ranks)
                .backward();
            for (size_t i = 0; i < sum.size(); ++i) sum[i] += models[size_t(rank)].table.weight.grad()[i];
        }
        for (int rank = 0; rank < ranks; ++rank) {
            std::ranges::copy(sum, models[size_t(rank)].table.weight.grad().begin());
            optimisers[size_t(rank)].step(o.learning_rate);
        }
    }
    double apart = 0;
    for (size_t i = 0; i < models[0].table.weight.count(); ++i)
        apart += std::abs(models[0].table.weight.values()[i] - models.back().table.weight.values()[i]);
    std::printf("%-13s %5d %7.4f %9.3f\n", name, ranks, evaluate(models[0], corpus, o).val,
                apart / double(models[0].table.weight.count()));
}

}  // namespace

int main() {
    Options o{.batch_size = 4, .steps = 1000, .learning_rate = 3e-2, .threads = 1};
    Corpus corpus = load_corpus(o.data);
    std::printf("              ranks    loss  apart by\n");
    learn("one", corpus, o, 1, none);
    learn("shared", corpus, o, 4, none);
    learn("other_tables", corpus, o, 4, other_tables);
    learn("same_rows", corpus, o, 4, same_rows);
    Options quarter = o;
    quarter.batch_size = 1;
    learn("quarter", corpus, quarter, 1, none);

    std::printf(
        "\nmegabytes through the busiest link, for each megabyte to be added up\n ranks   to one and back      ring\n");
    for (int N : {2, 4, 8, 64, 1024}) std::printf("%6d %17d %9.2f\n", N, 2 * (N - 1), 2.0 * (N - 1) / N);
}
