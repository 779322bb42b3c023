// Stage 14's task: what is drawn, learnt and measured, how texts are translated, and where the writer looked.
#include <atomic>
#include <nlohmann/json.hpp>

#include "common/app/attention_maps.h"
#include "common/babygpt.h"
#include "common/base/format.h"
#include "common/text/utf8.h"
#include "common/train/training_step.h"
#include "common/train/translation.h"
#include "common/write/translator.h"
#include "tests/check_threads.h"
#include "tests/fixture.h"

#define main stage_main
namespace translation_test {
namespace stage14 {
#include "stages/14_translate.cpp"
}
}  // namespace translation_test
#undef main

using namespace babygpt;
using namespace translation_test;

namespace {

const std::vector<std::string> kinds{"absolute", "relative_key", "relative_key_query"};

const ParallelCorpus& all_pairs() {
    static const ParallelCorpus text = load_pairs("pairs");
    return text;
}

Options tiny(double dropout = 0) {
    return {.stage = "14_translate",
            .data = "pairs",
            .batch_size = 6,
            .block_size = 64,
            .n_embd = 16,
            .n_head = 2,
            .n_layer = 2,
            .positions = "absolute",
            .dropout = dropout,
            .steps = 10,
            .learning_rate = 1e-2,
            .warmup = 3,
            .decay = true,
            .clip = 1,
            .eval_batches = 2,
            .threads = 1};
}

std::unique_ptr<EncoderDecoder> make_stage(const BertConfig& c, Rng& rng) {
    return std::make_unique<stage14::Model>(c, rng);
}

// Writes what it has read, without having learnt it, and counts its steps.
struct Copier : EncoderDecoder {
    int vocab_size;
    mutable std::atomic<int> steps = 0;

    explicit Copier(int size)
        : vocab_size(size) {}

    Tensor encode(const BertInput& input) const override {  // (B, S, 1): the tokens themselves
        const Tokens& read = *input.input_ids;
        return Tensor({read.B, read.T, 1}, std::vector<real>(read.ids.begin(), read.ids.end()));
    }

    Tensor decode(const BertInput& input) const override {  // (B, 1, V)
        const Tensor& read = input.encoder_hidden_states;
        int B = read.size(0), S = read.size(1), next = input.past_key_values_length() + 1;
        Tensor logits = Tensor::zeros({B, 1, vocab_size});
        for (int b = 0; b < B; ++b)
            logits.values()[size_t(b * vocab_size + int(read.values()[size_t(b * S + next)]))] = 1;
        input.past_key_values->assign(1, {{Tensor::zeros({B, next, 1, 1}), {}}, {}});
        ++steps;
        return logits;
    }
};

}  // namespace

TEST_SUITE("translation") {
    TEST_CASE("the ruler: what is written for unseen sentences, by how frequent it is in the others, by hand") {
        std::string lines;
        for (int i = 1; i <= 9; ++i) lines += std::string(size_t(i), 'a') + "\tx\n";  // nine times x and [SEP]
        ParallelCorpus corpus = make_parallel_corpus("lines", lines + "b\ty\n");      // y has not been seen
        Options o{.stage = "14_translate", .block_size = 12, .n_embd = 16, .n_head = 4, .n_layer = 2};
        double end = 10.0 / 23, unseen = 1.0 / 23;  // of 18 tokens, and of a, b, x, y and [SEP] once more each
        std::string ruler =
            format("knowing nothing %.3f, unigram %.3f nats", std::log(5), -(std::log(end) + std::log(unseen)) / 2);
        std::string said = Translation(o, corpus, {}).introduce();
        CHECK_MESSAGE(said.find(ruler) != said.npos, said, " should say ", ruler);
    }

    TEST_CASE("every parameter receives gradient, but the places that relative positions do not use") {
        for (const std::string& kind : kinds) {
            Options o = tiny();
            o.positions = kind;
            Translation objective(o, all_pairs(), make_stage);
            Rng rng(1), initialisation(1);
            auto batch = objective.draw(Part::train, rng);
            auto model = objective.make_model(initialisation);
            batch->loss(*model, 0, batch->rows()).backward();
            for (const auto& [name, tensor] : model->parameters) {
                CAPTURE(kind);
                CAPTURE(name);
                bool unused = kind != "absolute" && name.ends_with("position_embeddings.weight");
                REQUIRE(tensor.has_grad() == !unused);
                if (!unused) CHECK(std::ranges::any_of(tensor.grad(), [](real g) { return g != 0; }));
            }
        }
    }

    TEST_CASE("threads: any number of them gives the loss and the gradients of one, padding and all") {
        Options o = tiny();
        Translation objective(o, all_pairs(), make_stage);
        check_threads(o, objective);
    }

    TEST_CASE("golden run: ten steps on the pairs, the same losses as ever") {
        Options o = tiny(0.1);
        Translation objective(o, all_pairs(), make_stage);
        Trainer trainer(o, objective);
        std::vector<double> losses;
        for (int i = 0; i < 10; ++i) losses.push_back(trainer.step());
        const std::vector<double> golden{5.78972, 5.74587, 5.45188, 5.2197},
            some{losses[0], losses[1], losses[4], losses[9]};
        INFO("measured " << some[0] << ", " << some[1] << ", " << some[2] << ", " << some[3]);
        for (size_t i = 0; i < 4; ++i) CHECK(std::abs(some[i] - golden[i]) < 1e-3);
    }

    TEST_CASE("side by side, each sentence is translated as alone; with and without the cache") {
        for (const std::string& kind : kinds) {
            CAPTURE(kind);
            Options o = tiny();
            o.positions = kind;
            Translation objective(o, all_pairs(), make_stage);
            Rng rng(1);
            auto model = objective.make_model(rng);
            uint64_t seed = 0;
            for (auto& [name, tensor] : model->parameters)  // so large that no two texts are written alike
                std::ranges::copy(random_tensor(tensor.shape(), ++seed, 0.4).values(), tensor.values().begin());
            Translator translator{static_cast<const EncoderDecoder&>(*model), objective.tokenizer, 64};
            std::vector<std::string> texts{""}, one_by_one{""};
            for (size_t i = 0; i < 12; ++i) texts.push_back(encode_utf8(all_pairs().val[i].source));
            for (size_t i = 1; i < texts.size(); ++i) one_by_one.push_back(translate(translator, {texts[i]})[0]);
            std::vector<std::string> together = translate(translator, texts);
            CHECK(together == one_by_one);
            CHECK(together == translate(translator, texts, false));
            CHECK(std::ranges::count(together, "") == 1);
        }
    }

    TEST_CASE("an empty text costs no step, and holds up nobody beside it") {
        Options o = tiny();
        const CharacterTokenizer tokenizer = Translation(o, all_pairs(), make_stage).tokenizer;
        for (const auto& [texts, steps] : std::map<std::vector<std::string>, int>{
                 {{""}, 0}, {{"", ""}, 0}, {{"a", "", "red", ""}, 4}, {{"red"}, 4}}) {  // a character each and [SEP]
            Copier copier(tokenizer.size());
            CHECK(translate({copier, tokenizer, 64}, texts) == texts);
            CHECK(copier.steps == steps);
        }
    }

    TEST_CASE("each sentence is held against its own translation, though they are translated in parts on two threads") {
        ParallelCorpus text{"numbers", {}, {}, 0, false};
        for (int i = 0; i < 60; ++i) {  // of different lengths; every seventh translation is not what a copier writes
            std::u32string number = decode_utf8(std::to_string(7 * i * i), "a number");
            text.val.push_back({number, i % 7 ? number : number + U"!"});
        }
        text.train = text.val;
        Options o = tiny();
        o.threads = 2, o.eval_batches = 4;
        Translation objective(o, text, make_stage);
        Copier copier(objective.tokenizer.size());
        nlohmann::json found;
        std::string sample;
        objective.show(copier, [&](const nlohmann::json& it, const std::string& shown, const std::string&) {
            found = it, sample = shown;
        });
        CHECK(found["judged"] == nlohmann::json{{"sentences", 60}, {"exact", 51}});
        CHECK(found["final"]["exact"] == 51 / 60.0);
        CHECK(sample.starts_with("0\n    0\n    it should be: 0!\n7\n    7\n28\n    28\n"));
        CHECK(objective.remark(0, &copier) == "17 of 20 unseen sentences exact");
    }

    TEST_CASE("a text with an unknown character is refused by its name, too long a one with the limit") {
        Options o = tiny();
        Translation objective(o, all_pairs(), make_stage);
        Rng rng(1);
        auto model = objective.make_model(rng);
        Translator translator{static_cast<const EncoderDecoder&>(*model), objective.tokenizer, 20};
        check_error([&] { translate(translator, {"Cora made a café."}); }, {"'é' (U+00E9) at position 16"});
        check_error([&] { translate(translator, {"The lamp is flat. S."}); }, {"20 characters", "at most 18"});
        CHECK(translate(translator, {"The lamp is flat."})[0].size() > 0);
        model->parameters.back().tensor.values()[0] = std::numeric_limits<real>::quiet_NaN();
        check_error([&] { translate(translator, {"The lamp is flat."}); }, {"scores are not numbers", "damaged"});
    }

    TEST_CASE("alignment: in the row of each written token stands where the decoder looked as it chose that one") {
        Options o = tiny();
        Translation objective(o, all_pairs(), make_stage);
        Rng rng(1);
        auto model = objective.make_model(rng);
        uint64_t seed = 0;
        for (auto& [name, tensor] : model->parameters)  // so large that no two rows are alike
            std::ranges::copy(random_tensor(tensor.shape(), ++seed, 0.4).values(), tensor.values().begin());
        const CharacterTokenizer& t = objective.tokenizer;
        Translator translator{static_cast<const EncoderDecoder&>(*model), t, 64};
        Alignment alignment = align(translator, "At the road", "路边");
        CHECK(alignment.read == encoder_tokens(translator, "At the road"));
        CHECK(t.decode(alignment.written) == "路边[SEP]");
        REQUIRE(alignment.cross_attentions.size() == 2);
        NoGrad writing;
        std::vector<int> before{t.cls};
        Tensor states = translator.model.encode({.input_ids = Tokens(1, 13, alignment.read)});
        for (int i = 0; i < 3; ++i) {
            std::vector<Tensor> maps;
            translator.model.decode(
                {.input_ids = Tokens(1, i + 1, before), .encoder_hidden_states = states, .cross_attentions = &maps});
            for (size_t layer : {0, 1}) {
                CHECK(alignment.cross_attentions[layer].shape() == Shape{1, 2, 3, 13});
                check_answer(slice(alignment.cross_attentions[layer], 2, i, i + 1), slice(maps[layer], 2, i, i + 1),
                             rounding);
            }
            before.push_back(alignment.written[size_t(i)]);
        }
    }

    TEST_CASE("alignment: a translation that never ended has a row for each of its characters, and none for an end") {
        Options o = tiny();
        Translation objective(o, all_pairs(), make_stage);
        Rng rng(1);
        auto model = objective.make_model(rng);
        Translator translator{static_cast<const EncoderDecoder&>(*model), objective.tokenizer, 4};
        for (const auto& [translation, end] : std::map<std::string, std::string>{{"路边", "[SEP]"}, {"路边路", ""}}) {
            Alignment alignment = align(translator, "At", translation);
            CHECK(objective.tokenizer.decode(alignment.written) == translation + end);
            for (const Tensor& weights : alignment.cross_attentions) CHECK(weights.shape() == Shape{1, 2, 3, 4});
        }
    }

    TEST_CASE("the map of a layer is the mean of its heads") {
        Tensor attention({1, 2, 2, 3}, {1, 0, 0, 0, 1, 0,            // head 0
                                        0.5, 0.25, 0.25, 0, 0, 1});  // head 1
        HeatMap map = mean_map("layer 0", attention, {"x", "y"}, {"a", "b", "c"});
        CHECK(map.name == "layer 0");
        CHECK(map.rows == std::vector<std::string>{"x", "y"});
        CHECK(map.columns == std::vector<std::string>{"a", "b", "c"});
        CHECK(map.values == std::vector<std::vector<double>>{{0.75, 0.125, 0.125}, {0, 0.5, 0.5}});
    }

    TEST_CASE("the first line says how many sentences are left out of the validation part") {
        ParallelCorpus text = all_pairs();
        Options o = tiny();
        CHECK(Translation(o, text, make_stage).introduce().find("is for validation\n") != std::string::npos);
        text.val.pop_back(), text.seen = 1;
        std::string said = Translation(o, text, make_stage).introduce();
        CHECK(said.find("20,000 sentences") != std::string::npos);
        CHECK(said.find("is for validation, without 1 that the rest has, too\n") != std::string::npos);
    }

    TEST_CASE("a text that begins with a byte order mark is read to its end") {
        ParallelCorpus text = all_pairs(), same = text;
        text.train[0].source = U"\uFEFF" + text.train[0].source;
        same.train[0].source += U'\uFEFF';
        Options o = tiny();
        CHECK(Translation(o, text, make_stage).introduce() == Translation(o, same, make_stage).introduce());
    }

    TEST_CASE("pairs that do not fit the block are refused with what to do") {
        ParallelCorpus text = all_pairs();
        Options o = tiny();
        o.block_size = 20;
        check_error([&] { Translation(o, text, make_stage); },
                    {"with [CLS] and [SEP]", "--block-size is 20", "is enough", "It begins \"At the "});
    }
}
