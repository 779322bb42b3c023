// Stage 17: the same table, learnt by many machines. New since 01: each rank takes a part of the batch, and the
// gradients are added up over MPI. Run it with mpirun -n 2 build/mpi/17_machines.
#include <mpi.h>

#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

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

//> share
// Rows first to last - 1: the share of a rank. It begins where the one before it ends.
Tokens share(const Tokens& all, int rank, int ranks) {  // (B, T)
    int first = all.B * rank / ranks, last = all.B * (rank + 1) / ranks;
    return Tokens(last - first, all.T, {all.ids.begin() + first * all.T, all.ids.begin() + last * all.T});
}
//< share

//> train
void train(const Options& o) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);   // which of them this program is: 0, 1, ...
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);  // how many there are
    if (ranks > o.batch_size) fail("there are ", ranks, " ranks and --batch-size is ", o.batch_size, ": some are idle");
    Corpus corpus = load_corpus(o.data);
    check_fit(o, corpus);
    Rng initialisation(o.seed, "initialisation"), batches(o.seed, "batches");  // the same numbers on every rank
    Model model(o, corpus.vocabulary.size(), initialisation);
    AdamW optimiser(model.parameters, o.weight_decay, o.beta1, o.beta2);
    Run run(o, corpus, model.parameter_count());  // rank 0 alone prints and writes

    for (int step = run.resume(model, optimiser, batches);; ++step) {
        if (run.due(step)) run.record(step, evaluate(model, corpus, o), &model);
        run.save(step, model, optimiser, batches);
        if (run.ends(step)) break;
        Batch batch = random_batch(corpus.train, o.batch_size, o.block_size, batches);  // x, y: (B, T), on every rank
        Tokens x = share(batch.x, rank, ranks), y = share(batch.y, rank, ranks);        // (B / ranks, T)
        Tensor loss = cross_entropy(model(x), y, batch.y.ids.size());                   // its part of the batch's mean
        loss.backward();
        double total = loss.item();
        MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (auto& [name, parameter] : model.parameters)  // what every rank found, added up, to every rank
            MPI_Allreduce(MPI_IN_PLACE, parameter.grad().data(), int(parameter.count()), MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
        optimiser.step(o.learning_rate);  // the same step on every rank: the tables stay equal
        run.trained(step, total);
    }
    std::printf("\ncounted %.4f (stage 00), learnt %.4f: %+.4f nats\n", run.baselines.bigram, run.best.val,
                run.best.val - run.baselines.bigram);
    run.finish(model);
}
//< train

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);  // its threads compute, the first one talks
    Options defaults{.stage = "17_machines", .steps = 3000, .learning_rate = 3e-2};
    int code = run_stage<Model>(argc, argv, defaults, train);
    MPI_Finalize();
    return code;
}
