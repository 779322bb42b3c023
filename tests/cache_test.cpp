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
    std::vector<NextLogits> writers() {  // with the cache that the stage writes out, and with the fast one
        return {cached_writer<stage11::Cache>(model, sizes.block_size),
                cached_writer<KeyValueCache>(model, sizes.block_size)};
    }
};

}  // namespace

TEST_CASE_FIXTURE(
    Fixture, "cache: character by character below, at and beyond the block, the scores are those without a cache") {
    NextLogits plain = next_logits(model, sizes.block_size);
    std::vector<int> tokens = text(30);
    for (NextLogits& cached : writers())
        for (size_t n = 1; n <= tokens.size(); ++n) {
            CAPTURE(n);
            auto context = std::span(tokens).first(n);
            CHECK(difference(plain(context), cached(context)) < rounding);
        }
}

TEST_CASE_FIXTURE(Fixture, "cache: a prompt of any length first, then character by character") {
    NextLogits plain = next_logits(model, sizes.block_size);
    std::vector<int> tokens = text(20);
    for (size_t prompt = 1; prompt <= tokens.size(); ++prompt)
        for (NextLogits& cached : writers())
            for (size_t n = prompt; n <= tokens.size(); ++n) {
                CAPTURE(prompt);
                CAPTURE(n);
                auto context = std::span(tokens).first(n);
                CHECK(difference(plain(context), cached(context)) < rounding);
            }
}

TEST_CASE_FIXTURE(Fixture, "cache: another text in the same writer starts anew") {
    NextLogits plain = next_logits(model, sizes.block_size);
    for (NextLogits& cached : writers())
        for (int length : {3, 5, 6, 9, 20}) {  // shorter than what was read, as long, longer, longer than the block
            CAPTURE(length);
            std::vector<int> first = text(5), second = text(length);
            cached(first);
            CHECK(difference(plain(second), cached(second)) < rounding);
        }
}

TEST_CASE_FIXTURE(Fixture, "cache: sequences advance together as each does alone, any number of characters at a time") {
    NoGrad writing;
    auto check = [&](auto cache) {
        std::vector<decltype(cache)> caches(model.blocks.size());
        std::vector<int> tokens = text(2 * 12);
        for (auto [first, count] : {std::pair{0, 3}, {3, 1}, {4, 5}, {9, 2}, {11, 1}}) {
            CAPTURE(first);
            Tokens fresh(2, count), whole(2, first + count);
            for (int b : {0, 1}) {
                auto row = tokens.begin() + b * 12;
                std::copy_n(row + first, count, fresh.ids.begin() + b * count);
                std::copy_n(row, first + count, whole.ids.begin() + b * (first + count));
            }
            Tensor expected = slice(model(whole), 1, first, first + count);
            CHECK(difference(model(fresh, caches).values(), expected.values()) < rounding);
        }
        CHECK_THROWS_AS(model(Tokens(2, 1), caches), Error);  // more than the block holds
    };
    check(stage11::Cache());
    check(KeyValueCache());
}

TEST_CASE("KeyValueCache: cross-attention appends once and looks under a mask of its own, again and again") {
    Tensor k = random_constant({2, 5, 8}, 1), v = random_constant({2, 5, 8}, 2);
    KeyValueCache cache;
    cache.append(slice(k, 1, 0, 2), slice(v, 1, 0, 2)), cache.append(slice(k, 1, 2, 5), slice(v, 1, 2, 5));
    Mask read = padding({5, 3}, 5);
    for (int places : {1, 7}) {
        Tensor q = random_constant({2, places, 8}, uint64_t(places));
        Tensor y = attention(q, cache.keys(), cache.values(), 2, read);
        CHECK(difference(y.values(), attention(q, k, v, 2, read).values()) < rounding);
        Tensor shorter = attention(slice(q, 0, 1, 2), slice(slice(k, 0, 1, 2), 1, 0, 3),
                                   slice(slice(v, 0, 1, 2), 1, 0, 3), 2, padding({3}, 3));
        CHECK(difference(slice(y, 0, 1, 2).values(), shorter.values()) < rounding);  // padding has no effect at all
    }
}

TEST_CASE("KeyValueCache: what does not fit is refused, and what was kept stays as it was") {
    KeyValueCache cache;
    Tensor three = random_constant({2, 3, 4}), one = random_constant({2, 1, 4}, 2);
    cache.append(three, three);
    check_error([&] { cache.append(one, three); }, {"append", "(2,1,4)", "(2,3,4)"});
    check_error([&] { cache.append(random_constant({1, 1, 4}), random_constant({1, 1, 4})); }, {"append", "(1,1,4)"});
    check_error([&] { cache.attend(random_constant({2, 4, 4}), 2); }, {"attend", "(2,4,4)", "3 places"});
    check_error([&] { cache.attend(one, 3); }, {"attend", "3 heads"});
    CHECK(cache.length() == 3);
    check_error([] { KeyValueCache().keys(); }, {"empty"});
    cache.append(one, one);
    CHECK(cache.length() == 4);
}
