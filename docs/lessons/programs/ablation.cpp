// Lesson 10: what matters? Trains as runs/10_gpt was trained, with one thing left out or set to what is usual at a
// time, three seeds each, and has the judge read what each model writes.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>

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

struct Variant {
    const char* name;
    void (*change)(Options& o);
    void (*start)(Module& model, Rng& rng) = nullptr;  // another than the stage's
};
const Variant variants[] = {{"nothing", [](Options&) {}},
                            {"rise", [](Options& o) { o.warmup = 0; }},
                            {"fall", [](Options& o) { o.decay = false; }},
                            {"beta2", [](Options& o) { o.beta2 = 0.999; }},
                            {"start", [](Options&) {}, start_plainly},
                            {"width", [](Options& o) { o.n_embd = 64; }},
                            {"batch", [](Options& o) { o.batch_size /= 2; }},
                            {"dropout", [](Options& o) { o.dropout = 0; }},
                            {"clipping", [](Options& o) { o.clip = 0; }},
                            {"block", [](Options& o) { o.block_size /= 4, o.batch_size *= 4; }}};

struct Result {
    double loss;
    int in_form, slots, slots_right;  // as the judge sees it
};

Result train(const Variant& variant, Options options, const Corpus& corpus) {
    variant.change(options);
    MakeModel make = [&](const Options& o, int vocab_size, Rng& rng) {
        auto model = stages.at("10_gpt")(o, vocab_size, rng);
        if (variant.start) variant.start(*model, rng);
        return model;
    };
    LanguageModelling objective(options, corpus, make);
    Trainer trainer(options, objective);
    for (int step = 0; step < options.steps; ++step) trainer.step();
    nlohmann::json found;
    objective.show(trainer.model(), [&](const auto& each, const auto&, const auto&) { found.update(each); });
    const nlohmann::json& judged = found["judged"];
    return {evaluate(static_cast<const LanguageModel&>(trainer.model()), corpus, options).val, judged["in_form"],
            judged["slots"], judged["slots_right"]};
}

void print(const char* name, const std::array<Result, seeds>& results) {
    double total = 0;
    for (const Result& result : results) total += result.loss;
    auto [least, most] = std::ranges::minmax(results, {}, &Result::loss);
    std::printf("%-10s", name);
    for (const Result& result : results) std::printf(" %6.3f", result.loss);
    std::printf("  %6.3f  %6.3f    ", total / seeds, most.loss - least.loss);
    for (const Result& result : results) std::printf(" %3d", result.in_form);
    std::printf("     ");
    for (const Result& result : results)
        std::printf(" %3.0f%%", 100.0 * result.slots_right / std::max(1, result.slots));
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

int main() {
    return guarded("ablation", [] {
        Corpus corpus = load_corpus("tales");
        Options options = load_model("runs/10_gpt/model.safetensors", {.stage = "10_gpt"}).options;
        ThreadPool pool(thread_count({}));
        options.threads = 1;
        constexpr int count = int(std::size(variants));
        std::array<Result, seeds> results[count];
        std::atomic<int> next_run = 0;
        std::mutex mutex;  // of the next two
        int done[count] = {}, printed = 0;
        std::printf("left_out   loss of seeds 1, 2, 3   mean  spread   tales in form   memory slots right\n");
        pool.run([&](int) {
            for (int i; (i = next_run++) < count * seeds;) {
                const int variant = i / seeds, seed = i % seeds;
                Options own = options;
                own.seed = uint64_t(seed + 1);
                results[variant][size_t(seed)] = train(variants[variant], own, corpus);
                std::lock_guard lock(mutex);
                ++done[variant];
                for (; printed < count && done[printed] == seeds; ++printed)
                    print(variants[printed].name, results[printed]);
            }
        });
    });
}
