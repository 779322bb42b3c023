// From scores to text: what pick chooses and how often, and contexts of any length.
#include "common/write/sampler.h"

#include "common/write/learnt_by_heart.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

// pick() as PyTorch users know it: everything allowed unless the options say otherwise
Options all(double temperature = 1, int top_k = 0, double top_p = 1) {
    Options o;
    o.temperature = temperature, o.top_k = top_k, o.top_p = top_p;
    return o;
}

std::vector<real> logs(const std::vector<double>& probabilities) {
    std::vector<real> logits;
    for (double p : probabilities) logits.push_back(real(std::log(p) + 3));  // a shift changes nothing
    return logits;
}

// How often each token is picked.
std::vector<int> picks(const std::vector<real>& logits, const Options& o, int draws = 20'000) {
    std::vector<int> counts(logits.size());
    Rng rng(1, "test");
    for (int i = 0; i < draws; ++i) ++counts.at(size_t(pick(logits, o, rng)));
    return counts;
}

void check_frequencies(const std::vector<int>& counts, const std::vector<double>& expected) {
    double draws = 0;
    for (int count : counts) draws += count;
    for (size_t i = 0; i < counts.size(); ++i) {
        INFO("token " << i << ": " << counts[i] << " of " << draws << ", expected a share of " << expected[i]);
        if (expected[i] == 0)
            CHECK(counts[i] == 0);
        else
            CHECK(std::abs(counts[i] - draws * expected[i]) <
                  4 * std::sqrt(draws * expected[i] * (1 - expected[i])) + 1e-9);
    }
}

// Scores the next token by its distance to the sum of the context, so that every character of it matters.
struct Adder : LanguageModel {
    mutable std::vector<int> lengths;  // of the contexts it was asked about
    int V;
    explicit Adder(int vocab_size)
        : V(vocab_size) {}
    Tensor operator()(const Tokens& ids) const override {
        lengths.push_back(ids.T);
        Tensor logits = Tensor::zeros({ids.B, ids.T, V});
        for (int t = 0, total = 0; t < ids.T; ++t) {
            total += ids.ids[size_t(t)] + 1;
            logits.values()[size_t(t * V + total % V)] = 5;
        }
        return logits;
    }
};

}  // namespace

TEST_SUITE("sampler") {
    TEST_CASE("pick: frequencies match probabilities") {
        std::vector<double> p{0.5, 0.05, 0.2, 0.1, 0.15};
        check_frequencies(picks(logs(p), all()), p);
    }

    TEST_CASE("pick: temperature sharpens below 1 and evens out above") {
        std::vector<double> p{0.5, 0.05, 0.2, 0.1, 0.15};
        for (double temperature : {0.5, 2.0}) {
            std::vector<double> expected;
            double total = 0;
            for (double q : p) expected.push_back(std::pow(q, 1 / temperature)), total += expected.back();
            for (double& q : expected) q /= total;
            check_frequencies(picks(logs(p), all(temperature)), expected);
        }
    }

    TEST_CASE("pick: temperature 0, top_k 1 and a tiny top_p always take the likeliest") {
        std::vector<real> logits{1, 5, real(4.99), -3};
        for (const Options& o : {all(0), all(1, 1), all(1, 0, 1e-6), all(1e-9), all(0, 3, 0.9), all(100, 1)})
            check_frequencies(picks(logits, o, 1000), {0, 1, 0, 0});
    }

    TEST_CASE("pick: top_k leaves the k likeliest, in their proportion") {
        std::vector<double> p{0.5, 0.05, 0.2, 0.1, 0.15};
        check_frequencies(picks(logs(p), all(1, 2)), {5.0 / 7, 0, 2.0 / 7, 0, 0});
        check_frequencies(picks(logs(p), all(1, 4)), {0.5 / 0.95, 0, 0.2 / 0.95, 0.1 / 0.95, 0.15 / 0.95});
        check_frequencies(picks(logs(p), all(1, 5)), p);
        check_frequencies(picks(logs(p), all(1, 1'000'000)), p);
    }

    TEST_CASE("pick: top_p leaves the fewest that reach it, in their proportion") {
        std::vector<double> p{0.5, 0.05, 0.2, 0.1, 0.15};
        check_frequencies(picks(logs(p), all(1, 0, 0.4)), {1, 0, 0, 0, 0});
        check_frequencies(picks(logs(p), all(1, 0, 0.6)), {5.0 / 7, 0, 2.0 / 7, 0, 0});
        check_frequencies(picks(logs(p), all(1, 0, 0.8)), {0.5 / 0.85, 0, 0.2 / 0.85, 0, 0.15 / 0.85});
    }

    TEST_CASE("pick: top_p counts only what top_k left") {
        std::vector<double> p{0.4, 0.3, 0.2, 0.1};
        // Of the two likeliest, the first has 4/7 of what is left: enough for 0.5, not for 0.6.
        check_frequencies(picks(logs(p), all(1, 2, 0.5)), {1, 0, 0, 0});
        check_frequencies(picks(logs(p), all(1, 2, 0.6)), {4.0 / 7, 3.0 / 7, 0, 0});
    }

    TEST_CASE("pick: of equals, the vocabulary's order decides who stays, and all that stay are as likely") {
        std::vector<real> even(6, 2);
        check_frequencies(picks(even, all()), std::vector<double>(6, 1.0 / 6));
        check_frequencies(picks(even, all(0), 100), {1, 0, 0, 0, 0, 0});
        check_frequencies(picks(even, all(1, 3)), {1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 0, 0});
        check_frequencies(picks(even, all(1, 0, 0.34)), {1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 0, 0});
        check_frequencies(picks({1, 7, 7}, all(0), 100), {0, 1, 0});
    }

    TEST_CASE("pick: a token with probability 0 never comes, huge scores do not overflow, one token is enough") {
        check_frequencies(picks({0, -INFINITY, 0, -INFINITY}, all()), {0.5, 0, 0.5, 0});
        check_frequencies(picks({0, -INFINITY, -INFINITY}, all(100)), {1, 0, 0});
        check_frequencies(picks({30000, 30000, -30000}, all()), {0.5, 0.5, 0});
        check_frequencies(picks({3}, all(), 10), {1});
    }

    TEST_CASE("pick: scores that are not numbers are an error, whatever the temperature") {
        Rng rng(1, "test");
        for (double temperature : {0.0, 1.0})
            check_error([&] { pick(std::vector<real>{1, NAN, 3}, all(temperature), rng); }, {"not numbers"});
    }

    TEST_CASE("next_logits: the context is cropped to the block, and never longer") {
        Adder model(10);
        NextLogits next = next_logits(model, 4);
        std::vector<int> context{1, 2, 3, 4, 5, 6, 7};
        CHECK(next(context) == next(std::vector<int>{4, 5, 6, 7}));
        CHECK(next(context) != next(std::vector<int>{9, 5, 6, 7}));
        next(std::vector<int>{5});
        CHECK(model.lengths == std::vector<int>{4, 4, 4, 4, 1});
    }

    TEST_CASE("write_text: any length, far beyond the block, without the prompt") {
        Vocabulary vocabulary(U"abcdefghij");
        Adder model(10);
        Options o = all(0);
        o.prompt = "ab", o.tokens = 50;
        std::string text = write_text(next_logits(model, 3), vocabulary, o);
        CHECK(text.size() == 50);
        std::vector<int> tokens{0, 1};  // the same by hand: the sum of the last three, a being 1
        for (size_t i = 0; i < 50; ++i) {
            int total = 0;
            for (size_t j = tokens.size() < 3 ? 0 : tokens.size() - 3; j < tokens.size(); ++j) total += tokens[j] + 1;
            tokens.push_back(total % 10);
        }
        CHECK(text == vocabulary.decode(std::span(tokens).subspan(2)));
        o.tokens = 0;
        CHECK(write_text(next_logits(model, 3), vocabulary, o).empty());
    }

    TEST_CASE("write_text: the same seed gives the same text, another seed another") {
        Vocabulary vocabulary(U"\nabcdefghi");
        Adder model(10);
        Options o = all(3), other = all(3);
        o.tokens = other.tokens = 100, other.seed = 2;
        std::string text = write_text(next_logits(model, 3), vocabulary, o);
        CHECK(text == write_text(next_logits(model, 3), vocabulary, o));
        CHECK(text != write_text(next_logits(model, 3), vocabulary, other));
    }

    TEST_CASE("write_text: ends after the text to stop at") {
        Vocabulary vocabulary(U"abcdefghij");
        Adder model(10);
        Options o = all(0);
        o.prompt = "ab", o.tokens = 50;
        std::string whole = write_text(next_logits(model, 3), vocabulary, o);
        o.stop = whole.substr(5, 2);
        CHECK(write_text(next_logits(model, 3), vocabulary, o) == whole.substr(0, whole.find(o.stop) + 2));
    }

    TEST_CASE("prompt_tokens: an empty prompt is a new paragraph; an unknown character is named") {
        Vocabulary lines(U"\nab"), no_lines(U"ab");
        Options o;
        CHECK(prompt_tokens(lines, o) == std::vector<int>{0, 0});
        CHECK(prompt_tokens(no_lines, o) == std::vector<int>{0});
        o.prompt = "bab";
        CHECK(prompt_tokens(lines, o) == std::vector<int>{2, 1, 2});
        o.prompt = "a\xC3\xA9z";
        check_error([&] { prompt_tokens(lines, o); },
                    {"prompt", "'\xC3\xA9' (U+00E9) at position 2", "'z'", "position 3"});
        o.prompt = "a\xFF";
        check_error([&] { prompt_tokens(lines, o); }, {"prompt", "0xFF", "offset 1"});
        o.prompt = "\xEF\xBB\xBF";  // nothing but a byte order mark
        CHECK_FALSE(prompt_tokens(lines, o).empty());
    }

    TEST_CASE("write_tales: as many pieces as asked for, each closed by an empty line, whatever the threads") {
        Vocabulary vocabulary(U"\nab");
        NextLogits often = [](std::span<const int>) { return std::vector<real>{0, 2, 2}; };
        NextLogits never = [](std::span<const int>) { return std::vector<real>{-INFINITY, 0, 0}; };
        Options o = all();
        o.threads = 1;
        std::string text = write_tales(often, vocabulary, o, 5);
        CHECK(text.ends_with("\n\n"));
        std::string endless = write_tales(never, vocabulary, o, 3);
        CHECK(endless.size() == 3 * 302);
        for (int threads : {2, 7}) {
            o.threads = threads;
            CHECK(write_tales(often, vocabulary, o, 5) == text);
        }
    }

    TEST_CASE("longest_shared_run: the longest run shared with the training text") {
        auto tokens = [](std::string_view text) { return std::vector<int>(text.begin(), text.end()); };
        auto shared = [&](std::string_view sample, std::string_view text) {
            std::vector<int> a = tokens(sample), b = tokens(text), run = longest_shared_run(a, b);
            return std::string(run.begin(), run.end());
        };
        CHECK(shared("the red kite", "a red kitten") == " red kit");
        CHECK(shared("abc", "xyz") == "");
        CHECK(shared("aaaa", "aabaaab") == "aaa");
        CHECK(shared("abcabd", "zzabdabcabx") == "abcab");
        CHECK(shared("", "abc") == "");
        CHECK(shared("same", "same") == "same");
    }

    TEST_CASE("longest_shared_run: the same as trying every place, the first of several in the text") {
        Rng rng(1, "test");
        auto random = [&](size_t size, uint64_t letters) {
            std::vector<int> tokens(size);
            for (int& token : tokens) token = int(rng.below(letters));
            return tokens;
        };
        for (int round = 0; round < 200; ++round) {
            uint64_t letters = 1 + rng.below(4);
            std::vector<int> sample = random(rng.below(40), letters), text = random(rng.below(200), letters), longest;
            for (size_t i = 0; i < text.size(); ++i)
                for (size_t j = 0; j < sample.size(); ++j) {
                    size_t same = 0;
                    while (i + same < text.size() && j + same < sample.size() && text[i + same] == sample[j + same])
                        ++same;
                    if (same > longest.size()) longest.assign(text.begin() + long(i), text.begin() + long(i + same));
                }
            CHECK(longest_shared_run(sample, text) == longest);
        }
    }
}
