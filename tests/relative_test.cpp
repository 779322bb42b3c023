// Stage 12: scores that know distances, against 10 and Hugging Face's numbers, and writing with a cache that slides.
#include "common/babygpt.h"
#include "tests/check.h"
#include "tests/fixture.h"

#define main stage_main
namespace stage10 {
#include "stages/10_gpt.cpp"
}
namespace stage12 {
#include "stages/12_relative.cpp"
}
#undef main

using namespace babygpt;

namespace {

constexpr int V = 11, block = 8;
const std::vector<std::string> kinds{"absolute", "relative_key", "relative_key_query"};

Options sizes(const std::string& positions) {
    return {.block_size = block, .n_embd = 24, .n_head = 3, .n_layer = 2, .positions = positions};
}

stage12::Model make(const std::string& positions) {
    Rng rng(7);
    stage12::Model model(sizes(positions), V, rng);
    uint64_t seed = 0;
    for (auto& [name, tensor] : model.parameters)  // large enough that every path matters
        std::ranges::copy(random_tensor(tensor.shape(), ++seed, 0.4).values(), tensor.values().begin());
    return model;
}

std::vector<int> text(int n) {
    Rng rng(3);
    std::vector<int> tokens;
    for (int i = 0; i < n; ++i) tokens.push_back(int(rng.below(V)));
    return tokens;
}

std::vector<real> last_row(const Tensor& logits) { return copy(logits.values().last(V)); }

// The whole text at once, each place seeing itself and the block - 1 places before it, in every layer.
Tensor read_with_a_band(const stage12::Model& model, const std::vector<int>& tokens) {
    int T = int(tokens.size());
    Mask hidden{{T, T}, std::vector<char>(size_t(T * T))};
    for (int i = 0; i < T; ++i)
        for (int j = 0; j < T; ++j) hidden.values[size_t(i * T + j)] = j > i || j <= i - block;
    Tensor x = model.token_embedding(Tokens(1, T, tokens));
    for (const stage12::Block& layer : model.blocks) {
        const stage12::MultiHeadAttention& a = layer.attention;
        Tensor y = layer.norm1(x);
        auto heads = [&](const Tensor& z) { return reshape(z, {1, T, a.n_head, -1}); };
        Tensor weights = softmax(masked_fill(a.scores(heads(a.query(y)), heads(a.key(y))), hidden, -INFINITY));
        x = x + a.proj(reshape(einsum("bhqk,bkhd->bqhd", weights, heads(a.value(y))), x.shape()));
        x = x + layer.feed_forward(layer.norm2(x));
    }
    return model.lm_head(model.norm(x));
}

}  // namespace

TEST_SUITE("relative") {
    TEST_CASE("distances: query place minus key place, clipped at both ends of the table") {
        CHECK(stage12::distances(3, 3, 2).ids == std::vector{2, 1, 0, 3, 2, 1, 4, 3, 2});
        CHECK(stage12::distances(2, 5, 2).ids == std::vector{4, 4, 3, 2, 1, 4, 4, 4, 3, 2});
        CHECK(stage12::distances(1, 1, 0).ids == std::vector{0});
    }

    TEST_CASE("absolute: with 10's weights the logits are 10's") {
        Rng rng(1);
        stage10::Model ten(sizes(""), V, rng);
        stage12::Model model = make("absolute");
        REQUIRE(model.parameters.size() == ten.parameters.size());
        for (size_t i = 0; i < ten.parameters.size(); ++i) {
            REQUIRE(model.parameters[i].name == ten.parameters[i].name);
            std::ranges::copy(ten.parameters[i].tensor.values(), model.parameters[i].tensor.values().begin());
        }
        Tokens ids(2, block, text(2 * block));
        CHECK(difference(ten(ids).values(), model(ids).values()) < rounding);
    }

    TEST_CASE("each kind has its parameters: places, or distances, one table a layer") {
        for (const std::string& kind : kinds) {
            CAPTURE(kind);
            int places = 0, tables = 0;
            for (const auto& [name, tensor] : make(kind).parameters) {
                places += name == "position_embedding.weight";
                if (!name.ends_with("attention.distance_embedding.weight")) continue;
                ++tables;
                CHECK(tensor.shape() == Shape{2 * block - 1, 8});
            }
            CHECK(places == (kind == "absolute"));
            CHECK(tables == (kind == "absolute" ? 0 : 2));
        }
    }

    TEST_CASE("gradients of the three kinds against finite differences, beyond the block too" *
              doctest::skip(!in_double)) {
        for (const std::string& kind : kinds)
            for (int T : {5, block, block + 4}) {
                if (kind == "absolute" && T > block) continue;
                CAPTURE(kind);
                CAPTURE(T);
                stage12::Model model = make(kind);
                std::vector<Tensor> parameters;
                for (auto& [name, tensor] : model.parameters) parameters.push_back(tensor);
                std::vector<int> tokens = text(4 * T);
                Tokens x(2, T, {tokens.begin(), tokens.begin() + 2 * T}),
                    y(2, T, {tokens.begin() + 2 * T, tokens.end()});
                check_gradients([&] { return cross_entropy(model(x), y); }, parameters, 20);
            }
    }

    TEST_CASE("relative: the same characters get the same scores wherever they stand") {
        for (const std::string& kind : kinds) {
            CAPTURE(kind);
            stage12::Model model = make(kind);
            const auto& attention = model.blocks[0].attention;
            Tensor q = random_constant({1, 1, 3, 8}), k = random_constant({1, 1, 3, 8}, 2);
            auto repeated = [](const Tensor& x) { return concat({x, x, x, x, x, x}, 1); };
            Tensor s = attention.scores(repeated(q), repeated(k));  // (1, 3, 6, 6)
            auto at = [&](int i, int j) { return s.values()[size_t(i * 6 + j)]; };
            CHECK(std::abs(at(5, 3) - at(3, 1)) < rounding);                        // two apart
            CHECK((std::abs(at(5, 3) - at(3, 5)) > 1e-3) == (kind != "absolute"));  // before is not after
        }
    }

    TEST_CASE("Hugging Face's attention maps of BERT's first layer come out of the same scores") {
        for (const std::string kind : {"relative_key", "relative_key_query"}) {
            CAPTURE(kind);
            Fixture fixture("pretraining_" + kind);
            const std::string self = "model.bert.encoder.layer.0.attention.self.";
            Tensor x = fixture.constant("out.hidden.0");  // (3, 9, 16)
            Rng unused(1);
            Options o{.block_size = 12, .n_embd = 16, .n_head = 4, .positions = kind};
            stage12::MultiHeadAttention attention(o, unused);
            attention.distance_embedding.weight.replace(fixture.constant(self + "distance_embedding.weight"));
            auto heads = [&](const std::string& name) {
                Tensor weight = fixture.constant(self + name + ".weight"),
                       bias = fixture.constant(self + name + ".bias");
                return reshape(linear(x, weight, bias), {3, 9, 4, 4});
            };
            Mask seen = fixture.mask("in.mask");
            seen.shape = {3, 1, 1, 9};
            Tensor scores = attention.scores(heads("query"), heads("key"));
            check_answer(softmax(masked_fill(scores, !seen, -INFINITY)), fixture.constant("out.attention.0"));
        }
    }

    TEST_CASE("cache: below the block, any split of the new characters gives what the whole gives") {
        NoGrad writing;
        for (const std::string& kind : kinds)
            for (unsigned cuts = 0; cuts < 1u << (block - 1); ++cuts) {  // bit i: a cut after character i
                CAPTURE(kind);
                CAPTURE(cuts);
                stage12::Model model = make(kind);
                std::vector<int> tokens = text(2 * block);
                Tensor whole = model(Tokens(2, block, tokens));
                std::vector<stage12::Cache> caches(model.blocks.size());
                for (int first = 0, last = 1; last <= block; ++last) {
                    if (last < block && !(cuts >> (last - 1) & 1)) continue;
                    Tokens fresh(2, last - first);
                    for (int b : {0, 1})
                        std::copy(tokens.begin() + b * block + first, tokens.begin() + b * block + last,
                                  fresh.ids.begin() + b * fresh.T);
                    Tensor expected = slice(whole, 1, first, last);
                    REQUIRE(difference(model(fresh, caches).values(), expected.values()) < rounding);
                    first = last;
                }
            }
    }

    TEST_CASE("sliding: past the block each place sees the last block of keys in every layer, however the text came") {
        for (const std::string kind : {"relative_key", "relative_key_query"}) {
            stage12::Model model = make(kind);
            std::vector<int> tokens = text(30);
            for (size_t step : {1, 2, 5, 13, 30}) {
                NextLogits next = sliding_writer<stage12::Cache>(model, block);
                for (size_t n = step; n <= tokens.size(); n += step) {
                    CAPTURE(kind);
                    CAPTURE(step);
                    CAPTURE(n);
                    std::vector<int> read(tokens.begin(), tokens.begin() + std::ptrdiff_t(n));
                    NoGrad reading;
                    CHECK(difference(next(read), last_row(read_with_a_band(model, read))) < rounding);
                }
            }
        }
    }

    TEST_CASE("sliding: up to the block it is reading again; past it, it is not: keys know what has left") {
        stage12::Model model = make("relative_key");
        NextLogits sliding = sliding_writer<stage12::Cache>(model, block), plain = next_logits(model, block);
        std::vector<int> tokens = text(20);
        for (size_t n = 1; n <= tokens.size(); ++n) {
            CAPTURE(n);
            auto context = std::span(tokens).first(n);
            CHECK((difference(sliding(context), plain(context)) < rounding) == (n <= block));
        }
    }

    TEST_CASE("sliding: another text in the same writer starts anew, and a copy goes its own way") {
        stage12::Model model = make("relative_key");
        NextLogits writer = sliding_writer<stage12::Cache>(model, block), fresh = writer;
        std::vector<int> tokens = text(30);
        auto first = std::span(tokens).first(12), other = std::span(tokens).subspan(12, 10);
        writer(first);
        CHECK(same_bytes(writer(other), fresh(other)));
        CHECK(same_bytes(writer(first), sliding_writer<stage12::Cache>(model, block)(first)));
    }

    TEST_CASE("absolute: the cache reads the window again past the block, as 11 does") {
        stage12::Model model = make("absolute");
        NextLogits cached = cached_writer<stage12::Cache>(model, block), plain = next_logits(model, block);
        std::vector<int> tokens = text(20);
        for (size_t n = 1; n <= tokens.size(); ++n)
            CHECK(difference(cached(std::span(tokens).first(n)), plain(std::span(tokens).first(n))) < rounding);
    }
}
