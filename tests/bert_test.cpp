// Stage 13: BERT, against Hugging Face's numbers; padding that has no effect; what the original refuses.
#include <cstdio>
#include <filesystem>

#include "common/babygpt.h"
#include "common/base/files.h"
#include "common/train/pretrained.h"
#include "common/train/pretraining.h"
#include "common/train/training_step.h"
#include "tests/bert_fixture.h"
#include "tests/temporary.h"

#define main stage_main
namespace stage13 {
#include "stages/13_bert.cpp"
}
namespace bert_test {
namespace stage15 {
#include "stages/15_prune.cpp"
}
namespace stage16 {
#include "stages/16_memory.cpp"
}
}  // namespace bert_test
#undef main

using namespace babygpt;
using namespace bert_test;

namespace {

const std::vector<std::string> kinds{"absolute", "relative_key", "relative_key_query"};

BertConfig sizes(const std::string& positions) {
    return {.vocab_size = 23,
            .hidden_size = 16,
            .num_hidden_layers = 2,
            .num_attention_heads = 4,
            .intermediate_size = 24,
            .max_position_embeddings = 12,
            .position_embedding_type = positions};
}

stage13::Model make(const BertConfig& config) {
    Rng rng(1);
    return {config, rng};
}

stage13::Model load(const Fixture& fixture, const std::string& positions) {
    stage13::Model model = make(sizes(positions));
    for (auto& [name, tensor] : model.parameters)
        std::ranges::copy(fixture.constant("model." + name).values(), tensor.values().begin());
    return model;
}

template <class Model = stage13::Model>
std::unique_ptr<PreTrainingModel> make_stage(const BertConfig& c, Rng& rng) {
    return std::make_unique<Model>(c, rng);
}

}  // namespace

TEST_SUITE("bert") {
    TEST_CASE("13 computes every hidden state, attention map, logit and gradient that Hugging Face does") {
        for (const std::string& kind : kinds) {
            CAPTURE(kind);
            Fixture fixture("pretraining_" + kind);
            stage13::Model model = load(fixture, kind);
            BertInput input = input_of(fixture);
            std::vector<Tensor> hidden_states, attentions;
            input.hidden_states = &hidden_states, input.attentions = &attentions;
            BertForPreTrainingOutput out = model(input);
            REQUIRE(hidden_states.size() == 3);
            REQUIRE(attentions.size() == 2);
            for (size_t i = 0; i < 3; ++i) check_answer(hidden_states[i], fixture.constant(str("out.hidden.", i)));
            for (size_t i = 0; i < 2; ++i) check_answer(attentions[i], fixture.constant(str("out.attention.", i)));
            check_answer(model.bert.pooler(hidden_states[2]), fixture.constant("out.pooled"));
            check_answer(out.prediction_logits, fixture.constant("out.prediction_logits"));
            check_answer(out.seq_relationship_logits, fixture.constant("out.seq_relationship_logits"));
            Tensor loss = cross_entropy(out.prediction_logits, tokens(fixture, "in.labels")) +
                          cross_entropy(out.seq_relationship_logits, tokens(fixture, "in.follows"));
            check_answer(reshape(loss, {1}), fixture.constant("out.loss"));
            loss.backward();
            for (const auto& [name, tensor] : model.parameters) {
                CAPTURE(name);
                bool skipped = kind != "absolute" && name == "bert.embeddings.position_embeddings.weight";
                REQUIRE(tensor.has_grad() == !skipped);
                if (skipped) continue;
                // It adds the same to all scores of a query, so its gradient is 0, unless keys meet distances.
                bool zero = name.ends_with("key.bias") && kind != "relative_key_query";
                check_answer({tensor.shape(), tensor.grad()}, fixture.constant("grad." + name), 1e-5,
                             zero ? 0.1 : 1e-300);
            }
        }
    }

    TEST_CASE("padding has no effect: a padded row gives what it gives alone, forward and backward") {
        for (const std::string& kind : kinds) {
            CAPTURE(kind);
            Fixture fixture("pretraining_" + kind);
            BertInput padded = input_of(fixture);
            const std::vector<int> lengths{9, 7, 4};
            for (int row = 0; row < 3; ++row) {
                CAPTURE(row);
                int T = lengths[size_t(row)];
                auto cut = [&](const Tokens& all, int columns) {
                    auto first = all.ids.begin() + row * all.T;
                    return Tokens(1, columns, {first, first + columns});
                };
                BertInput alone{.input_ids = cut(*padded.input_ids, T),
                                .token_type_ids = cut(*padded.token_type_ids, T)};
                BertInput with_padding{.input_ids = cut(*padded.input_ids, 9),
                                       .token_type_ids = cut(*padded.token_type_ids, 9),
                                       .attention_mask = padding({T}, 9)};
                Tokens labels = cut(tokens(fixture, "in.labels"), T);
                std::vector<std::vector<real>> gradients[2];
                for (int i : {0, 1}) {
                    stage13::Model model = load(fixture, kind);
                    BertForPreTrainingOutput out = model(i ? with_padding : alone);
                    Tensor logits = slice(out.prediction_logits, 1, 0, T);
                    if (i == 0) {
                        check_answer(out.seq_relationship_logits, model(with_padding).seq_relationship_logits,
                                     rounding);
                        check_answer(logits, slice(model(with_padding).prediction_logits, 1, 0, T), rounding);
                    }
                    (cross_entropy(logits, labels) + sum(out.seq_relationship_logits)).backward();
                    for (const auto& [name, tensor] : model.parameters)
                        gradients[i].push_back(tensor.has_grad() ? copy(tensor.grad()) : std::vector<real>{});
                }
                for (size_t i = 0; i < gradients[0].size(); ++i)
                    if (!gradients[0][i].empty()) CHECK(difference(gradients[0][i], gradients[1][i]) < 10 * rounding);
            }
        }
    }

    TEST_CASE("what the original refuses: sizes of heads, both or neither of ids and embeddings, too long a text") {
        BertConfig wrong = sizes("absolute");
        wrong.hidden_size = 30;
        check_error([&] { make(wrong); },
                    {"The hidden size (30) is not a multiple of the number of attention heads (4)"});
        stage13::Model model = make(sizes("absolute"));
        check_error([&] { model({}); }, {"You have to specify either input_ids or inputs_embeds"});
        BertInput both{.input_ids = Tokens(1, 2), .inputs_embeds = Tensor::zeros({1, 2, 16})};
        check_error([&] { model(both); }, {"You cannot specify both input_ids and inputs_embeds at the same time"});
        check_error([&] { model({.input_ids = Tokens(1, 13, std::vector<int>(13, 5))}); },
                    {"13 tokens", "12 positions"});
        wrong = sizes("absolute");
        wrong.hidden_act = "swish";
        check_error([&] { make(wrong); }, {"no activation swish", "gelu and gelu_new"});
    }

    TEST_CASE("reads padding without a mask, twice" * doctest::skip()) {  // for the next one
        stage13::Model model = make(sizes("absolute"));
        for (int i : {0, 1}) model({.input_ids = Tokens(1, 3, {5, i, 0})});
    }

    TEST_CASE("padding without a mask is warned of, once") {
        // In a process of its own, as others may have been warned before.
        std::string self = std::filesystem::read_symlink("/proc/self/exe"), said;
        auto close = [](std::FILE* pipe) { pclose(pipe); };
        std::unique_ptr<std::FILE, decltype(close)> pipe(
            popen((self + " -ns -tc='reads padding without a mask*' 2>&1 >/dev/null").c_str(), "r"), close);
        for (int c; (c = std::fgetc(pipe.get())) != EOF;) said += char(c);
        CHECK(said ==
              "warning: there is padding ([PAD], token 0) and no attention_mask: it is read like any other token\n");
    }

    TEST_CASE("inputs_embeds: embeddings given by hand are what the ids would have looked up") {
        stage13::Model model = make(sizes("absolute"));
        Tokens ids(2, 5, {3, 9, 4, 1, 22, 8, 8, 2, 17, 6});
        Tensor looked_up = model.bert.embeddings.word_embeddings(ids);
        check_answer(model({.inputs_embeds = looked_up}).prediction_logits, model({.input_ids = ids}).prediction_logits,
                     rounding);
    }

    TEST_CASE("both directions: every place sees every other, in each layer") {
        stage13::Model model = make(sizes("absolute"));
        Tokens ids(1, 5, {3, 9, 4, 1, 22});
        Tensor before = model({.input_ids = ids}).prediction_logits;
        for (size_t changed = 0; changed < 5; ++changed) {
            Tokens other = ids;
            other.ids[changed] = 7;
            Tensor after = model({.input_ids = other}).prediction_logits;
            for (size_t place = 0; place < 5; ++place)
                CHECK_FALSE(
                    same_bytes(before.values().subspan(place * 23, 23), after.values().subspan(place * 23, 23)));
        }
    }

    TEST_CASE("attentions are those after dropout: with p = 0.5 some are exactly 0, and the others doubled") {
        BertConfig config = sizes("relative_key");
        config.hidden_dropout_prob = 0, config.attention_probs_dropout_prob = 0.5;
        for (auto* make_model : {make_stage<>, make_stage<stage15::Model>, make_stage<stage16::Model>}) {
            Rng rng(1), noise(1, "dropout");
            auto model = make_model(config, rng);
            auto first_layer = [&] {
                std::vector<Tensor> attentions;
                (*model)({.input_ids = Tokens(2, 5, {3, 9, 4, 1, 22, 8, 8, 2, 17, 6}), .attentions = &attentions});
                return attentions[0];
            };
            Tensor plain = first_layer();
            DropoutScope training(noise);
            Tensor dropped = first_layer();
            int zeros = 0;
            for (size_t i = 0; i < plain.count(); ++i) {
                real before = plain.values()[i], after = dropped.values()[i];
                zeros += after == 0;
                CHECK((after == 0 || after == 2 * before));
            }
            CHECK(std::abs(zeros - 100) < 35);  // of 200: five deviations
        }
    }

    TEST_CASE("a new model: tables and matrices normally distributed, gains 1, biases and the word [PAD] 0") {
        BertConfig config =
            bert_config({.block_size = 12, .n_embd = 64, .n_head = 4, .n_layer = 2, .positions = "relative_key"}, 23);
        const double range = config.initializer_range;
        CHECK(range == 0.5 / 8);  // 0.5 / sqrt(n_embd)
        stage13::Model model = make(config);
        for (const auto& [name, tensor] : model.parameters) {
            CAPTURE(name);
            std::span<const real> values = tensor.values();
            auto all_are = [](std::span<const real> numbers, real n) {
                return std::ranges::all_of(numbers, [n](real number) { return number == n; });
            };
            if (tensor.shape().size() == 1) {
                CHECK(all_are(values, name.ends_with("bias") ? 0 : 1));
                continue;
            }
            if (name.ends_with("word_embeddings.weight")) {
                CHECK(all_are(values.first(64), 0));  // [PAD]
                values = values.subspan(64);
            }
            double n = double(values.size()), sum = 0, squares = 0;
            for (real number : values) sum += number, squares += double(number) * double(number);
            CHECK(std::abs(sum / n) < 5 * range / std::sqrt(n));
            CHECK(std::abs(std::sqrt(squares / n) / range - 1) < 5 / std::sqrt(2 * n));
        }
    }

    TEST_CASE("a run that another program saved anew opens as Hugging Face's do: the same bits, the same answers") {
        for (const std::string& kind : kinds) {
            CAPTURE(kind);
            Options o{.stage = "13_bert", .block_size = 32, .n_embd = 16, .n_head = 4, .n_layer = 2, .positions = kind};
            const CharacterTokenizer& tokenizer = built_in_tales().tokenizer;
            PreTraining objective(o, built_in_tales(), make_stage<>);
            stage13::Model model = make(bert_config(o, tokenizer.size()));
            uint64_t seed = 0;
            for (auto& [name, tensor] : model.parameters)
                std::ranges::copy(random_tensor(tensor.shape(), ++seed, 0.4).values(), tensor.values().begin());

            TemporaryDirectory directory;
            const std::string run = directory.path, file = run + "/model.safetensors";
            for (const Objective::File& each : objective.files()) write_whole(run + "/" + each.name, each.text);
            Checkpoint saved = objective.describe(model, 0, {});
            saved.metadata = {{"format", "pt"}};  // all that the other program says of it
            write_whole(file, to_safetensors(saved));
            REQUIRE(saved_by(file).empty());

            Pretrained opened = load_pretrained(run);
            CHECK(save_config(opened.config) == objective.files()[0].text);
            CHECK(opened.tokenizer->tokens == tokenizer.tokens);
            CHECK(opened.checkpoint.tensors.size() == model.parameters.size());
            for (const auto& [name, tensor] : opened.checkpoint.tensors) {
                CAPTURE(name);
                auto found = std::ranges::find(model.parameters, name, &Module::Parameter::name);
                REQUIRE(found != model.parameters.end());
                CHECK(same_bytes(tensor.values(), found->tensor.values()));
            }
            const std::string_view words = "Ada got a red kite.";
            std::vector<int> ids = tokenizer.encode(words, "a text");
            BertInput input{.input_ids = Tokens(1, int(ids.size()), ids)};
            LoadedBert again = load_hugging_face(run, Command::fill, make_stage<>);
            CHECK(
                same_bytes((*again.model)(input).prediction_logits.values(), model(input).prediction_logits.values()));
            CHECK(again.tokenizer->encode(words, "a text") == ids);  // capitals and spaces, which BERT's own words lack
        }
    }

    TEST_CASE("gradients of the whole model against finite differences, with dropout and gelu_new" *
              doctest::skip(!in_double)) {
        struct Case {
            MakeBert make;
            std::string kind;
            int checkpoint = 0, chunk = 0;
            HeadsByLayer pruned = {};
        };
        std::vector<Case> cases;
        for (const std::string& kind : kinds) {
            cases.push_back({make_stage<>, kind});
            for (const HeadsByLayer& heads : {HeadsByLayer{}, {{0, {1, 3}}, {1, {0, 1, 2}}}})
                cases.push_back({make_stage<stage15::Model>, kind, 0, 0, heads});
        }
        for (int k : {0, 1})
            for (int chunk : {0, 3}) cases.push_back({make_stage<stage16::Model>, "relative_key_query", k, chunk});
        for (const auto& [make_model, kind, k, chunk, pruned] : cases) {
            CAPTURE(kind);
            CAPTURE(list_heads(pruned));
            CAPTURE(k);
            CAPTURE(chunk);
            Fixture fixture("pretraining_" + kind);
            BertConfig config = sizes(kind);
            config.hidden_act = "gelu_new", config.gradient_checkpointing = k, config.chunk_size_feed_forward = chunk;
            config.pruned_heads = pruned;
            Rng rng(1);
            auto model = make_model(config, rng);
            std::vector<Tensor> parameters;
            uint64_t seed = 0;
            for (auto& [name, tensor] : model->parameters) {
                std::ranges::copy(random_tensor(tensor.shape(), ++seed, 0.4).values(), tensor.values().begin());
                bool unused = kind != "absolute" && name.ends_with("position_embeddings.weight");
                // Added to all scores of a query alike, the keys' bias changes nothing, unless distances meet it.
                bool without_effect = kind != "relative_key_query" && name.ends_with("key.bias");
                if (!unused && !without_effect) parameters.push_back(tensor);
            }
            auto loss = [&] {
                Rng noise(1, "dropout");
                DropoutScope training(noise);
                BertForPreTrainingOutput out = (*model)(input_of(fixture));
                return cross_entropy(out.prediction_logits, tokens(fixture, "in.labels")) +
                       cross_entropy(out.seq_relationship_logits, tokens(fixture, "in.follows"));
            };
            check_gradients(loss, parameters, 20);
        }
    }
}
