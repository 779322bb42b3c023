// Lesson 03: how far back the head looks, before and after training, with scaled scores and without. Means over the
// later half of the places in blocks of the validation text: the weight on the place itself (0), on the one before it
// (1) and so on, the largest weight of a place, and the slope of softmax, p (1 - p).
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
#include "stages/03_head.cpp"
#undef main

void measure(const std::string& name, const Model& model, const Tokens& ids, bool scaled) {
    NoGrad looking;
    Tensor x = model.token_embedding(ids) + model.position_embedding(positions(ids.T));  // (B, T, C)
    Tensor q = model.head.query(x), k = model.head.key(x);                               // (B, T, H)
    Tensor scores = matmul(q, transpose(k)) / (scaled ? std::sqrt(k.size(-1)) : 1);      // (B, T, T)
    Tensor weights = softmax(masked_fill(scores, !tril(ids.T), -INFINITY));
    size_t T = size_t(ids.T), rows = size_t(ids.B) * T / 2;
    double back[7] = {}, largest = 0, slope = 0;  // back[6]: six or more
    for (size_t row = 0; row < size_t(ids.B) * T; ++row) {
        size_t i = row % T;
        if (i < T / 2) continue;
        std::span<const real> w(&weights.values()[row * T], i + 1);
        largest += double(*std::ranges::max_element(w));
        for (size_t j = 0; j <= i; ++j) {
            back[std::min<size_t>(i - j, 6)] += double(w[j]);
            slope += double(w[j] * (1 - w[j])) / double(i + 1);
        }
    }
    std::printf("%-21s", name.c_str());
    for (double sum : back) std::printf(" %5.2f", sum / double(rows));
    std::printf(" %8.3f %7.4f\n", largest / double(rows), slope / double(rows));
}

int main() {
    return guarded("looks", [] {
        Corpus corpus = load_corpus("tales");
        std::printf("%-21s %5d %5d %5d %5d %5d %5d %5s %8s %7s\n", "", 0, 1, 2, 3, 4, 5, "6...", "largest", "slope");
        for (std::string run : {"03_head", "no_scale", "small_queries"}) {
            std::string file = "runs/" + run + "/model.safetensors";
            SavedModel saved = load_model(file, {.stage = "03_head"});
            Rng initialisation(saved.options.seed, "initialisation"), blocks(1, "looks");
            Tokens ids = random_batch(corpus.val, 200, saved.options.block_size, blocks).x;
            Model model(saved.options, saved.vocabulary.size(), initialisation);
            if (run == "small_queries")
                for (real& w : model.head.query.weight.values()) w /= std::sqrt(real(model.head.query.weight.size(0)));
            measure(run + "_start", model, ids, run == "03_head");
            restore(model.parameters, saved.checkpoint, "", file);
            measure(run + "_trained", model, ids, run == "03_head");
        }
    });
}
