// Lesson 12: models trained on blocks of 64 read pieces of 256 characters of the validation text. Mean loss of each
// quarter of a piece, by how it is read:
//   at_once     all 256 places at once, distances beyond the block clipped
//   slides      character by character with a cache that drops the oldest: each layer sees the last 64 keys
//   again       for each character its last 64 are read again
//   absolute    the same with absolute places, the only way they have
//   reading SEED...
#include <array>
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
namespace relative {
#include "stages/12_relative.cpp"
}
#undef main
using namespace babygpt;

constexpr int pieces = 64, length = 256;

struct Text {
    std::vector<int> tokens;                   // pieces of length + 1
    Tokens from(int first, int count) const {  // (pieces, count)
        Tokens part(pieces, count);
        for (int p = 0; p < pieces; ++p)
            std::copy_n(tokens.begin() + p * (length + 1) + first, count, part.ids.begin() + p * count);
        return part;
    }
};

using Quarters = std::array<double, 4>;

// The loss of place t is that of the last place of the logits.
double last_loss(const Tensor& logits, const Text& text, int t) {
    return double(cross_entropy(slice(logits, 1, logits.size(1) - 1, logits.size(1)), text.from(t + 1, 1)).item());
}

Quarters at_once(const relative::Model& model, const Text& text) {
    Quarters result{};
    Tensor logits = model(text.from(0, length));
    for (int q = 0; q < 4; ++q) {
        int first = q * length / 4, last = first + length / 4;
        result[size_t(q)] = cross_entropy(slice(logits, 1, first, last), text.from(first + 1, last - first)).item();
    }
    return result;
}

Quarters sliding(const relative::Model& model, const Text& text, int block_size) {
    Quarters result{};
    std::vector<relative::Cache> caches(model.blocks.size());
    for (int t = 0; t < length; ++t) {
        if (t >= block_size)
            for (relative::Cache& cache : caches) cache.drop_oldest();
        result[size_t(t * 4 / length)] += last_loss(model(text.from(t, 1), caches), text, t) * 4 / length;
    }
    return result;
}

Quarters again(const relative::Model& model, const Text& text, int block_size) {
    Quarters result{};
    for (int t = 0; t < length; ++t) {
        int first = std::max(0, t + 1 - block_size);
        result[size_t(t * 4 / length)] += last_loss(model(text.from(first, t + 1 - first)), text, t) * 4 / length;
    }
    return result;
}

int main(int argc, char** argv) {
    return guarded("reading", [&] {
        if (argc < 2) fail("usage: reading SEED...");
        Corpus corpus = load_corpus("tales");
        Text text;
        for (int p = 0; p < pieces; ++p) {
            auto begin = corpus.val.begin() + p * std::ptrdiff_t(corpus.val.size() - length - 1) / pieces;
            text.tokens.insert(text.tokens.end(), begin, begin + length + 1);
        }
        NoGrad evaluation;
        auto load = [&](const std::string& directory) {
            std::string file = directory + "/model.safetensors";
            SavedModel saved = load_model(file, {.stage = "12_relative"});
            Rng unused(0);
            relative::Model model(saved.options, saved.vocabulary.size(), unused);
            restore(model.parameters, saved.checkpoint, "", file);
            return std::pair(model, saved.options.block_size);
        };
        std::printf("%-12s %9s %9s %9s %9s %9s\n", "places", "0-63", "64-127", "128-191", "192-255", "64-255");
        auto print = [](const std::string& name, const Quarters& q) {
            std::printf("%-12s", name.c_str());
            for (double loss : q) std::printf(" %9.3f", loss);
            std::printf(" %9.3f\n", (q[1] + q[2] + q[3]) / 3);
        };
        for (int i = 1; i < argc; ++i) {
            std::string seed = argv[i];
            auto [model, block_size] = load(seed == "1" ? "runs/12_relative" : "runs/relative_key_" + seed);
            print("at_once_" + seed, at_once(model, text));
            print("slides_" + seed, sliding(model, text, block_size));
            print("again_" + seed, again(model, text, block_size));
            print("absolute_" + seed, again(load("runs/absolute_" + seed).first, text, block_size));
        }
    });
}
