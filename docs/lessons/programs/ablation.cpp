// Lesson 10: which of its five things matters? Trains as runs/10_gpt was trained, but for 1000 steps, with one of them
// left out at a time, three seeds each.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <numeric>

#include "common/train/evaluate.h"
#include "common/train/language.h"
#include "docs/workshop/stages.h"

using namespace babygpt;

namespace {

constexpr int seeds = 3;

// The start that layers have of their own: weights and biases uniform in +-1/sqrt(in), embeddings from N(0, 1).
void start_plainly(Module& model, Rng& rng) {
    int in = 1;
    for (auto& [name, tensor] : model.parameters) {
        if (name.find("norm") != std::string::npos) continue;
        if (!name.ends_with("bias")) in = tensor.size(1);
        if (name.find("embedding") != std::string::npos)
            fill_normal(tensor, 1, rng);
        else
            for (real& v : tensor.values()) v = real((2 * rng.uniform() - 1) / std::sqrt(in));
    }
}
void start_places_at_random(Module& model, Rng& rng) {
    for (auto& [name, tensor] : model.parameters)
        if (name == "position_embedding.weight") fill_normal(tensor, 0.02, rng);
}

struct Variant {
    const char* name;
    void (*change)(Options& o);
    void (*start)(Module& model, Rng& rng) = nullptr;  // another than the stage's
};
const Variant variants[] = {{"nothing", [](Options&) {}},
                            {"dropout", [](Options& o) { o.dropout = 0; }},
                            {"start", [](Options&) {}, start_plainly},
                            {"waves", [](Options&) {}, start_places_at_random},
                            {"schedule", [](Options& o) { o.warmup = 0, o.decay = false; }},
                            {"clipping", [](Options& o) { o.clip = 0; }},
                            {"width", [](Options& o) { o.n_embd = 64; }},
                            {"block", [](Options& o) { o.block_size /= 4, o.batch_size *= 4; }}};

double train(const Variant& variant, Options options, const Corpus& corpus) {
    variant.change(options);
    MakeModel make = [&](const Options& o, int vocab_size, Rng& rng) {
        auto model = stages.at("10_gpt")(o, vocab_size, rng);
        if (variant.start) variant.start(*model, rng);
        return model;
    };
    LanguageModelling objective(options, corpus, make);
    Trainer trainer(options, objective);
    for (int step = 0; step < options.steps; ++step) trainer.step();
    return evaluate(static_cast<const LanguageModel&>(trainer.model()), corpus, options).val;
}

}  // namespace

int main() {
    return guarded("ablation", [] {
        Corpus corpus = load_corpus("tales");
        Options options = load_model("runs/10_gpt/model.safetensors", {.stage = "10_gpt"}).options;
        options.steps = 1000;
        ThreadPool pool(thread_count({}));
        options.threads = 1;
        constexpr int count = int(std::size(variants));
        double losses[count][seeds];
        std::atomic<int> next_run = 0;
        pool.run([&](int) {
            for (int i; (i = next_run++) < count * seeds;) {
                Options own = options;
                own.seed = uint64_t(i % seeds + 1);
                losses[i / seeds][i % seeds] = train(variants[i / seeds], own, corpus);
            }
        });
        std::printf("%-10s loss of seeds 1, 2, 3    mean    spread\n", "left_out");
        for (int i = 0; i < count; ++i) {
            std::ranges::minmax_result<double> range = std::ranges::minmax(losses[i]);
            std::printf("%-10s", variants[i].name);
            for (double loss : losses[i]) std::printf(" %.4f", loss);
            std::printf("   %.4f  %.4f\n", std::accumulate(losses[i], losses[i] + seeds, 0.0) / seeds,
                        range.max - range.min);
        }
    });
}
