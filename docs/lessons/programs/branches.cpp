// Lesson 10: how much the branches of three untrained blocks add to x, with all biases at zero, as the stage starts,
// and with biases as a linear layer has them of its own.
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
#include "stages/10_gpt.cpp"
#undef main

double deviation(const Tensor& x) {
    double sum = 0, squares = 0, n = double(x.count());
    for (real v : x.values()) sum += double(v), squares += double(v) * double(v);
    return std::sqrt(squares / n - sum / n * (sum / n));
}

// What stands in x before a block, and what its two branches add.
std::vector<double> measure(const Corpus& corpus, bool zero_biases) {
    Options o{.block_size = 128, .n_embd = 96, .n_head = 4, .n_layer = 3};
    Rng rng(1, "initialisation"), batches(1, "batches");
    Model model(o, corpus.vocabulary.size(), rng);
    auto usual = [&](Linear& layer) {
        for (real& b : layer.bias.values()) b = real((2 * rng.uniform() - 1) / std::sqrt(layer.weight.size(1)));
    };
    NoGrad looking;
    Tensor x = model.token_embedding(random_batch(corpus.train, 12, o.block_size, batches).x) +
               model.position_embedding(positions(o.block_size));  // (B, T, C)
    std::vector<double> row;
    for (Block& block : model.blocks) {
        if (!zero_biases) usual(block.attention.proj), usual(block.feed_forward.up), usual(block.feed_forward.down);
        row.push_back(deviation(x));
        Tensor attended = block.attention(block.norm1(x));
        x = x + attended;
        Tensor thought = block.feed_forward(block.norm2(x));
        x = x + thought;
        row.push_back(deviation(attended)), row.push_back(deviation(thought));
    }
    row.push_back(deviation(x));
    return row;
}

int main() {
    Corpus corpus = load_corpus("tales");
    std::printf("deviation         block 1              block 2              block 3\n");
    std::printf("of            x      +att   +ffn   x      +att   +ffn   x      +att   +ffn   x\n");
    for (bool zero : {true, false}) {
        std::printf("%-12s", zero ? "zero_biases" : "usual_biases");
        for (double each : measure(corpus, zero)) std::printf(" %6.3f", each);
        std::printf("\n");
    }
}
