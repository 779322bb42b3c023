// Lesson 06: what is left of a text after each of eight untrained blocks:
// as stage 06 starts, with doubled weights, and with residual connections.
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
namespace block {
#include "stages/06_block.cpp"
}
namespace residual {
#include "stages/07_residual.cpp"
}
#undef main
using namespace babygpt;

struct Left {
    double x;        // the size of x: the root of its mean square
    double differs;  // the same of x minus what all places have in common
    double own;      // the share of the latter's square that the place's own character decides
};

//> left
Left left(const Tensor& x, const Tokens& ids, int vocab_size) {  // (B, T, C), (B, T)
    size_t C = size_t(x.size(-1)), places = ids.ids.size();
    double square = 0, differs = 0, own = 0;
    for (size_t c = 0; c < C; ++c) {
        double mean = 0;
        std::vector<double> sum(size_t(vocab_size), 0), count(size_t(vocab_size), 0);  // by character
        for (size_t i = 0; i < places; ++i) {
            double number = double(x.values()[i * C + c]);
            mean += number / double(places), square += number * number;
            sum[size_t(ids.ids[i])] += number, ++count[size_t(ids.ids[i])];
        }
        for (size_t i = 0; i < places; ++i) differs += std::pow(double(x.values()[i * C + c]) - mean, 2);
        for (size_t v = 0; v < sum.size(); ++v)
            if (count[v] > 0) own += count[v] * std::pow(sum[v] / count[v] - mean, 2);
    }
    return {std::sqrt(square / double(x.count())), std::sqrt(differs / double(x.count())), own / differs};
}
//< left

template <class Model>
std::vector<Left> measure(const Corpus& corpus, double scale) {
    Options o{.n_embd = 64, .n_head = 4, .n_layer = 8};
    Rng rng(1, "initialisation"), batches(1, "batches");
    Model model(o, corpus.vocabulary.size(), rng);
    for (auto& [name, tensor] : model.parameters)
        if (name.starts_with("blocks.") && name.ends_with("weight"))
            for (real& w : tensor.values()) w *= real(scale);
    Tokens ids = random_batch(corpus.train, 256, o.block_size, batches).x;
    NoGrad looking;
    Tensor x = model.token_embedding(ids) + model.position_embedding(positions(o.block_size));  // (B, T, C)
    std::vector<Left> all{left(x, ids, corpus.vocabulary.size())};
    for (const auto& b : model.blocks) all.push_back(left(x = b(x), ids, corpus.vocabulary.size()));
    return all;
}

int main() {
    Corpus corpus = load_corpus("tales");
    std::vector<std::vector<Left>> starts{measure<block::Model>(corpus, 1), measure<block::Model>(corpus, 2),
                                          measure<residual::Model>(corpus, 1)};
    std::printf("       06                     double_weights       07\n");
    std::printf("block  x       differs own     x    differs own     x    differs own\n");
    for (size_t i = 0; i < starts[0].size(); ++i) {
        std::printf("%-6zu %.1e %.1e %5.1f%%", i, starts[0][i].x, starts[0][i].differs, 100 * starts[0][i].own);
        for (size_t s = 1; s < starts.size(); ++s)
            std::printf("  %.2f %.2f   %5.1f%%", starts[s][i].x, starts[s][i].differs, 100 * starts[s][i].own);
        std::printf("\n");
    }
}
