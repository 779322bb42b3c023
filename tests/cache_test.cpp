// Stage 11: writing with kept keys and values gives what writing without gives.
#include "common/babygpt.h"
#include "tests/check.h"

#define main stage_main
namespace stage11 {
#include "stages/11_kvcache.cpp"
}
#undef main

using namespace babygpt;

namespace {

const Options sizes{.stage = "11_kvcache", .block_size = 12, .n_embd = 24, .n_head = 3, .n_layer = 2};

struct Fixture {
    Rng rng{7};
    stage11::Model model{sizes, 11, rng};
    std::vector<int> text(int n) {
        std::vector<int> tokens;
        for (int i = 0; i < n; ++i) tokens.push_back(int(rng.below(11)));
        return tokens;
    }
};

}  // namespace

TEST_CASE_FIXTURE(
    Fixture, "cache: character by character below, at and beyond the block, the scores are those without a cache") {
    NextLogits plain = next_logits(model, sizes.block_size), cached = stage11::CachedWriter(model, sizes);
    std::vector<int> tokens = text(30);
    for (size_t n = 1; n <= tokens.size(); ++n) {
        CAPTURE(n);
        auto context = std::span(tokens).first(n);
        CHECK(difference(plain(context), cached(context)) < rounding);
    }
}

TEST_CASE_FIXTURE(Fixture, "cache: a prompt of any length first, then character by character") {
    NextLogits plain = next_logits(model, sizes.block_size);
    std::vector<int> tokens = text(20);
    for (size_t prompt = 1; prompt <= tokens.size(); ++prompt) {
        NextLogits cached = stage11::CachedWriter(model, sizes);
        for (size_t n = prompt; n <= tokens.size(); ++n) {
            CAPTURE(prompt);
            CAPTURE(n);
            auto context = std::span(tokens).first(n);
            CHECK(difference(plain(context), cached(context)) < rounding);
        }
    }
}

TEST_CASE_FIXTURE(Fixture, "cache: another text in the same writer starts anew") {
    NextLogits plain = next_logits(model, sizes.block_size), cached = stage11::CachedWriter(model, sizes);
    for (int length :
         {3, 5, 6, 9, 20}) {  // shorter than what was read, as long, one longer, longer, longer than the block
        CAPTURE(length);
        std::vector<int> first = text(5), second = text(length);
        cached(first);
        CHECK(difference(plain(second), cached(second)) < rounding);
    }
}

TEST_CASE_FIXTURE(Fixture, "cache: four sequences of different lengths advance together as each does alone") {
    NoGrad writing;
    std::vector<KeyValueCache> caches(model.blocks.size(), KeyValueCache(4, sizes.block_size, sizes.n_embd));
    std::vector<std::vector<int>> texts;
    for (int length : {1, 3, 6, 8}) {
        texts.push_back(text(length));
        model(Tokens(1, length, texts.back()), caches, int(texts.size()) - 1);
    }
    for (int step = 0; step < 4; ++step) {
        std::vector<int> next = text(4);
        Tensor logits = model(Tokens(4, 1, next), caches, 0);  // (4, 1, V)
        for (size_t s = 0; s < 4; ++s) {
            CAPTURE(step);
            CAPTURE(s);
            texts[s].push_back(next[s]);
            Tensor alone = model(Tokens(1, int(texts[s].size()), texts[s]));
            CHECK(difference(alone.values().last(11), logits.values().subspan(s * 11, 11)) < rounding);
        }
    }
}

TEST_CASE_FIXTURE(Fixture, "cache: more places than the block holds are refused") {
    NoGrad writing;
    std::vector<KeyValueCache> caches(model.blocks.size(), KeyValueCache(1, sizes.block_size, sizes.n_embd));
    model(Tokens(1, 12, text(12)), caches, 0);
    CHECK_THROWS_AS(model(Tokens(1, 1, text(1)), caches, 0), Error);
    CHECK_THROWS_AS(KeyValueCache(1, 12, 24).attend(Tensor::zeros({2, 1, 72}), 3, 0), Error);
}
