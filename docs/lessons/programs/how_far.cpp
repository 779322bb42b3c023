// Lesson 04: how far back each head of trained models looks: the mean weight of a distance, over unseen text.
//   how_far RUN...
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
namespace several {
#include "stages/04_multihead.cpp"
}
#undef main
using namespace babygpt;

int main(int argc, char** argv) {
    return guarded("how_far", [&] {
        const int near = 8;
        Corpus corpus = load_corpus("tales");
        std::printf("%-9s", "run/head");
        for (int d = 0; d < near; ++d) std::printf(" %6d", d);
        std::printf("   more   largest\n");
        for (int run = 1; run < argc; ++run) {
            std::string file = str(argv[run], "/model.safetensors");
            SavedModel saved = load_model(file, {.stage = "04_multihead"});
            Rng unused(0), batches(1, "batches");
            several::Model model(saved.options, saved.vocabulary.size(), unused);
            restore(model.parameters, saved.checkpoint, "", file);
            int T = saved.options.block_size;
            Batch batch = random_batch(corpus.val, 64, T, batches);
            NoGrad looking;
            Tensor x = model.token_embedding(batch.x) + model.position_embedding(positions(T));  // (B, T, C)
            for (size_t h = 0; h < model.attention.heads.size(); ++h) {
                const auto& head = model.attention.heads[h];
                Tensor scores = matmul(head.query(x), transpose(head.key(x))) / std::sqrt(head.key.weight.size(0));
                Tensor weights = softmax(masked_fill(scores, !tril(T), -INFINITY));  // (B, T, T)
                std::vector<double> back(near + 1);
                double largest = 0, rows = 64 * (T - near);
                for (int row = 0; row < 64 * T; ++row) {
                    int place = row % T;
                    if (place < near) continue;  // those that have as many places behind them
                    auto weight = weights.values().subspan(size_t(row * T), size_t(T));
                    largest += double(std::ranges::max(weight)) / rows;
                    for (int d = 0; d <= place; ++d)
                        back[size_t(std::min(d, near))] += double(weight[size_t(place - d)]) / rows;
                }
                std::printf("%-9s", str(run, "/", h).c_str());
                for (double share : back) std::printf(" %6.2f", share);
                std::printf(" %9.2f\n", largest);
            }
        }
    });
}
