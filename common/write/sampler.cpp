#include "common/write/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/thread_pool.h"
#include "common/text/utf8.h"

namespace babygpt {

int argmax(std::span<const real> logits) { return int(std::ranges::max_element(logits) - logits.begin()); }

void check_scores(std::span<const real> logits) {
    if (std::ranges::any_of(logits, [](real score) { return std::isnan(score); }))
        fail("the model's scores are not numbers: its file is damaged, or its training overshot");
}

//> pick
Choices choices(std::span<const real> logits, const Options& o) {
    check_scores(logits);
    std::vector<int> order(logits.size());  // tokens, the likeliest first; equal ones in the vocabulary's order
    std::iota(order.begin(), order.end(), 0);
    size_t kept = o.top_k > 0 ? std::min(order.size(), size_t(o.top_k)) : order.size();
    if (o.temperature == 0) kept = 1;
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(kept), order.end(), [&](int a, int b) {
        return logits[size_t(a)] != logits[size_t(b)] ? logits[size_t(a)] > logits[size_t(b)] : a < b;
    });
    if (kept == 1) return {{order[0]}, {1}, 1};
    std::vector<double> weight(kept);
    for (size_t i = 0; i < kept; ++i)
        weight[i] = std::exp((logits[size_t(order[i])] - logits[size_t(order[0])]) / o.temperature);
    double total = std::accumulate(weight.begin(), weight.end(), 0.0), reached = 0;
    for (size_t i = 0; i < kept; ++i) {
        if ((reached += weight[i]) < o.top_p * total) continue;
        kept = i + 1;
        break;
    }
    order.resize(kept), weight.resize(kept);
    return {order, weight, std::min(reached, total)};
}

int pick(std::span<const real> logits, const Options& o, Rng& rng) {
    auto [tokens, weights, total] = choices(logits, o);
    double left = rng.uniform() * total;
    for (size_t i = 0; i + 1 < tokens.size(); ++i)
        if ((left -= weights[i]) < 0) return tokens[i];
    return tokens.back();
}
//< pick

NextLogits next_logits(const LanguageModel& model, int block_size) {
    return [&model, block_size](std::span<const int> context) {
        NoGrad evaluation;
        context = context.last(std::min(context.size(), size_t(block_size)));
        Tensor logits = model(Tokens(1, int(context.size()), {context.begin(), context.end()}));  // (1, T, V)
        auto last = logits.values().last(size_t(logits.size(-1)));
        return std::vector<real>(last.begin(), last.end());
    };
}

std::vector<int> prompt_tokens(const Vocabulary& vocabulary, const Options& options) {
    std::u32string text = decode_utf8(options.prompt, "the prompt");
    if (!text.empty()) return vocabulary.encode(text, "prompt");
    if (vocabulary.characters.find(U'\n') == std::u32string::npos) return {0};
    return vocabulary.encode(U"\n\n", "prompt");
}

void generate(const NextLogits& next, std::vector<int>& context, const Vocabulary& vocabulary, const Options& options,
              Rng& rng, const EachToken& each) {
    size_t prompt = context.size();
    std::string written;
    while (context.size() < prompt + size_t(options.tokens)) {
        std::vector<real> logits = next(context);
        context.push_back(pick(logits, options, rng));
        if (!each(context.back(), logits)) return;
        if (options.stop.empty()) continue;
        written += vocabulary.decode(std::span(context).last(1));
        if (written.ends_with(options.stop)) return;
    }
}

std::string write_text(const NextLogits& next, const Vocabulary& vocabulary, const Options& options) {
    std::vector<int> tokens = prompt_tokens(vocabulary, options);
    size_t prompt = tokens.size();
    Rng rng(options.seed, "sampling");
    generate(next, tokens, vocabulary, options, rng, [](int, std::span<const real>) { return true; });
    return vocabulary.decode(std::span(tokens).subspan(prompt));
}

std::vector<std::string> list_tales(const NextLogits& next, const Vocabulary& vocabulary, const Options& options,
                                    int count, int part, int parts) {
    Options tale = options;
    tale.prompt.clear();
    tale.tokens = 300;  // no tale is as long
    tale.stop = "\n\n";
    std::vector<std::string> tales(static_cast<size_t>(count));
    ThreadPool pool(thread_count(options));
    pool.run([&](int worker) {
        NextLogits own = next;  // a writer with a cache remembers what it has read
        for (int i = part + worker * parts; i < count; i += pool.size() * parts) {
            std::vector<int> tokens = prompt_tokens(vocabulary, tale);
            size_t prompt = tokens.size();
            Rng rng(options.seed, "tales", uint64_t(i));
            generate(own, tokens, vocabulary, tale, rng, [](int, std::span<const real>) { return true; });
            tales[size_t(i)] = vocabulary.decode(std::span(tokens).subspan(prompt));
            if (!tales[size_t(i)].ends_with(tale.stop))
                tales[size_t(i)] += tale.stop;  // too long for a tale; judged as it is
        }
    });
    return tales;
}

std::string write_tales(const NextLogits& next, const Vocabulary& vocabulary, const Options& options, int count) {
    std::string text;
    for (const std::string& one : list_tales(next, vocabulary, options, count, 0, 1)) text += one;
    return text;
}

}  // namespace babygpt
