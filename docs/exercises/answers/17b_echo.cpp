// Bug hunt 17b: four ranks that learn no more than one.
//
// Ranks learn a line, y = slope x + start, from examples. In each step a batch of B examples is drawn and shared among
// them; every rank computes the gradient of its share, the gradients are added up, and every rank makes the same step.
// Here the ranks are simulated: they take turns.
//
// The symptom: all ranks have the same line at every moment, and the error falls. But with four ranks it falls as
// unsteadily as with one rank and a quarter of the batch, and the line is not the one that a single rank finds.
//
// Check it: make exercise N=17b
#include <vector>

#include "common/base/rng.h"
using babygpt::Rng;

struct Example {
    double x, y;
};

struct Rank {
    double slope = 0, start = 0;
    Rng batches;  // draws the examples
};

struct Gradient {
    double slope = 0, start = 0;
};

// Of the mean squared error over the batch, as far as this rank's share of it goes.
Gradient gradient_of_share(Rank& own, int rank, int ranks, const std::vector<Example>& examples, int B) {
    Gradient sum;
    int first = B * rank / ranks, last = B * (rank + 1) / ranks;
    // Every rank has the same stream. So all drew the same examples for their shares, and the rest of the batch was
    // never seen. Now each draws the whole batch and takes its own rows of it: the streams stay together, and the batch
    // is the same for any number of ranks. With a stream for each rank it would not be: no run could be compared.
    for (int row = 0; row < B; ++row) {
        const Example& example = examples[own.batches.below(examples.size())];
        if (row < first || row >= last) continue;
        double error = own.slope * example.x + own.start - example.y;
        sum.slope += 2 * error * example.x / B;
        sum.start += 2 * error / B;
    }
    return sum;
}

void train(std::vector<Rank>& all, const std::vector<Example>& examples, int B, int steps, double rate) {
    int ranks = int(all.size());
    for (int step = 0; step < steps; ++step) {
        Gradient sum;  // the all-reduce
        for (int rank = 0; rank < ranks; ++rank) {
            Gradient part = gradient_of_share(all[size_t(rank)], rank, ranks, examples, B);
            sum.slope += part.slope, sum.start += part.start;
        }
        for (Rank& each : all) each.slope -= rate * sum.slope, each.start -= rate * sum.start;
    }
}

// Every stream of random numbers is made of the seed and its name, as everywhere in the course.
std::vector<Rank> make_ranks(int ranks, uint64_t seed) {
    return std::vector<Rank>(size_t(ranks), Rank{.batches = Rng(seed, "batches")});
}
