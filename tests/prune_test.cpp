// Stage 15: heads switched off and cut out, against Hugging Face's numbers; a small model that trains on.
#include "common/app/attention_maps.h"
#include "common/babygpt.h"
#include "common/train/heads.h"
#include "common/train/training_step.h"
#include "tests/bert_fixture.h"

#define main stage_main
namespace stage15 {
#include "stages/15_prune.cpp"
}
#undef main

using namespace babygpt;

namespace {

BertConfig sizes(const std::string& positions = "absolute", const HeadsByLayer& pruned = {}) {
    return {.vocab_size = 23,
            .hidden_size = 16,
            .num_hidden_layers = 2,
            .num_attention_heads = 4,
            .intermediate_size = 24,
            .max_position_embeddings = 12,
            .position_embedding_type = positions,
            .pruned_heads = pruned};
}

// Weights larger than a usual start, so that a mistake shows.
stage15::Model make(const BertConfig& config) {
    Rng rng(1);
    stage15::Model model(config, rng);
    uint64_t seed = 0;
    for (auto& [name, tensor] : model.parameters)
        std::ranges::copy(random_tensor(tensor.shape(), ++seed, 0.4).values(), tensor.values().begin());
    return model;
}

stage15::Model load(const Fixture& fixture) {
    stage15::Model model = make(sizes());
    for (auto& [name, tensor] : model.parameters)
        std::ranges::copy(fixture.constant("model." + name).values(), tensor.values().begin());
    return model;
}

const BertInput& some_input() {
    static const Tokens ids(2, 6, {3, 9, 4, 1, 22, 7, 8, 8, 2, 17, 6, 5});
    static const BertInput input{.input_ids = ids, .attention_mask = padding({6, 4}, 6)};
    return input;
}

// Each head goes with a chance of a half, but one of each layer stays.
HeadsByLayer random_heads(uint64_t seed) {
    Rng rng(seed, "which heads");
    HeadsByLayer heads;
    for (int layer : {0, 1}) {
        int stays = int(rng.below(4));
        for (int head = 0; head < 4; ++head)
            if (head != stays && rng.below(2)) heads[layer].insert(head);
    }
    return heads;
}

Options tiny(const std::string& pruned_heads = "") {
    return {.stage = "15_prune",
            .batch_size = 6,
            .block_size = 128,
            .n_embd = 16,
            .n_head = 4,
            .n_layer = 2,
            .positions = "relative_key",
            .pruned_heads = pruned_heads,
            .steps = 10,
            .learning_rate = 1e-2,
            .eval_batches = 2,
            .threads = 1};
}

std::unique_ptr<PreTrainingModel> make_stage(const BertConfig& c, Rng& rng) {
    return std::make_unique<stage15::Model>(c, rng);
}

}  // namespace

TEST_SUITE("prune") {
    TEST_CASE("15 computes what Hugging Face does: whole, with heads switched off, and with the same heads cut out") {
        Fixture fixture("heads");
        stage15::Model model = load(fixture);
        BertInput input = input_of(fixture);
        check_answer(model.bert(input).first, fixture.constant("out.last_hidden"));

        std::vector<Tensor> attentions;
        BertInput masked = input;
        masked.head_mask = fixture.constant("in.head_mask");
        masked.attentions = &attentions;
        check_answer(model.bert(masked).first, fixture.constant("out.masked.last_hidden"));
        REQUIRE(attentions.size() == 2);
        for (size_t i : {0, 1}) check_answer(attentions[i], fixture.constant(str("out.masked.attention.", i)));

        model.prune_heads({{0, {1}}, {1, {0}}});
        model.prune_heads({{1, {2}}});  // the third at first, the second by now
        check_answer(model.bert(input).first, fixture.constant("out.pruned.last_hidden"));
        for (int layer : {0, 1})
            for (const char* part : {"self.query", "self.key", "self.value", "output.dense"})
                for (const char* what : {"weight", "bias"}) {
                    std::string name = str("bert.encoder.layer.", layer, ".attention.", part, ".", what);
                    CAPTURE(name);
                    auto found = std::ranges::find(model.parameters, name, &Module::Parameter::name);
                    REQUIRE(found != model.parameters.end());
                    check_answer(found->tensor, fixture.constant("pruned." + name), 0);
                }
    }

    TEST_CASE("switched off or cut out, it is the same: for any heads and every kind of position") {
        for (const char* kind : {"absolute", "relative_key", "relative_key_query"})
            for (uint64_t seed = 0; seed < 8; ++seed) {
                CAPTURE(kind);
                CAPTURE(seed);
                HeadsByLayer heads = random_heads(seed);
                stage15::Model model = make(sizes(kind));
                BertInput input = some_input();
                input.head_mask = mask_without(heads, sizes(kind));
                BertForPreTrainingOutput masked = model(input);
                model.prune_heads(heads);
                BertForPreTrainingOutput pruned = model(some_input());
                check_answer(masked.prediction_logits, pruned.prediction_logits, 1e-6);
                check_answer(masked.seq_relationship_logits, pruned.seq_relationship_logits, 1e-6);
                bool matters = !heads.empty();
                Tensor whole = make(sizes(kind))(some_input()).prediction_logits;
                CHECK((difference(whole.values(), pruned.prediction_logits.values()) > 1e-3) == matters);
            }
    }

    TEST_CASE("a second call speaks of the heads as they were at first, and a head cut out twice is gone once") {
        stage15::Model at_once = make(sizes()), by_turns = make(sizes());
        at_once.prune_heads({{0, {0, 2}}, {1, {1, 2, 3}}});
        by_turns.prune_heads({{1, {1}}, {0, {0}}});
        by_turns.prune_heads({{1, {3, 1}}});
        by_turns.prune_heads({{0, {2, 0}}, {1, {2}}});
        CHECK(by_turns.bert.encoder.layer[0].attention.self.heads_left == std::vector{1, 3});
        CHECK(by_turns.bert.encoder.layer[1].attention.self.heads_left == std::vector{0});
        for (size_t i = 0; i < at_once.parameters.size(); ++i)
            CHECK(same_bytes(at_once.parameters[i].tensor.values(), by_turns.parameters[i].tensor.values()));
        size_t before = by_turns.parameter_count();
        sum(by_turns(some_input()).prediction_logits * 0.1).backward();
        auto gradients = [&] {
            std::vector<real> all;
            for (const auto& [name, tensor] : by_turns.parameters)
                if (tensor.has_grad()) all.insert(all.end(), tensor.grad().begin(), tensor.grad().end());
            return all;
        };
        std::vector<real> its = gradients();
        by_turns.prune_heads({{0, {0}}, {1, {}}});
        CHECK(by_turns.parameter_count() == before);
        CHECK(gradients() == its);  // where nothing goes, nothing changes
    }

    TEST_CASE("a head mask of a pruned model speaks of the heads as they were at first, too") {
        stage15::Model model = make(sizes("absolute", {{0, {1}}, {1, {0}}})), whole = make(sizes());
        whole.prune_heads({{0, {1}}, {1, {0}}});
        for (size_t i = 0; i < whole.parameters.size(); ++i)
            std::ranges::copy(whole.parameters[i].tensor.values(), model.parameters[i].tensor.values().begin());
        BertInput input = some_input();
        input.head_mask = Tensor({2, 4}, {1, 7, 1, 0, 5, 1, 0, 1});  // whatever it says of a head that is gone
        Tensor masked = model(input).prediction_logits;
        model.prune_heads({{0, {3}}, {1, {2}}});
        check_answer(masked, model(some_input()).prediction_logits, 1e-6);
    }

    TEST_CASE("attention maps of a pruned model name heads by the numbers they had at first") {
        const HeadsByLayer gone{{0, {0}}, {1, {1, 2}}};
        stage15::Model model = make(sizes("absolute", gone));
        std::vector<Tensor> attentions;
        BertInput input = some_input();
        input.attentions = &attentions;
        model(input);
        std::string heads;
        std::vector<HeatMap> maps = attention_maps(attentions, std::vector<std::string>(6, "x"), gone);
        for (const HeatMap& map : maps) heads += map.name + "; ";
        CHECK(heads == "layer 0, head 1; layer 0, head 2; layer 0, head 3; layer 1, head 0; layer 1, head 3; ");
        CHECK(maps[4].values[0][0] == doctest::Approx(double(attentions[1].values()[36])));  // the second that is left
    }

    TEST_CASE("a mask for all layers is (heads), one for each is (layers, heads); ones change nothing") {
        stage15::Model model = make(sizes());
        BertInput input = some_input(), by_layer = some_input();
        input.head_mask = Tensor({4}, {1, 0, 0.5, 1});
        by_layer.head_mask = Tensor({2, 4}, {1, 0, 0.5, 1, 1, 0, 0.5, 1});
        CHECK(same_bytes(model(input).prediction_logits.values(), model(by_layer).prediction_logits.values()));
        input.head_mask = Tensor({4}, {1, 1, 1, 1});
        CHECK(same_bytes(model(input).prediction_logits.values(), model(some_input()).prediction_logits.values()));
    }

    TEST_CASE("refused: masks of another shape, layers and heads that do not exist, the last head of a layer") {
        stage15::Model model = make(sizes());
        BertInput input = some_input();
        for (const Shape& shape : {Shape{3}, {5}, {2, 3}, {3, 4}, {4, 2}, {1, 4}, {2, 4, 1}}) {
            input.head_mask = Tensor::zeros(shape);
            check_error([&] { model(input); }, {"head_mask", to_string(shape), "(4) or (2,4)"});
        }
        auto refused = [&](const HeadsByLayer& heads, const std::string& words) {
            check_error([&] { model.prune_heads(heads); }, {words});
            check_error([&] { make(sizes("absolute", heads)); }, {words});
        };
        refused({{0, {4}}}, "there is no head 4 in layer 0; it had heads 0 to 3");
        refused({{0, {-1}}}, "there is no head -1");
        refused({{0, {1}}, {2, {0}}}, "there is no layer 2; the model has layers 0 to 1");
        refused({{-1, {0}}}, "there is no layer -1");
        refused({{1, {0, 1, 2, 3}}}, "one head of layer 1 has to stay");
        refused({{0, {1}}, {1, {0, 1, 2, 3}}}, "one head of layer 1 has to stay");
        CHECK(model.parameter_count() == make(sizes()).parameter_count());  // a refusal changes nothing
        model.prune_heads({{1, {0, 1, 2}}});
        check_error([&] { model.prune_heads({{0, {2}}, {1, {3}}}); }, {"one head of layer 1 has to stay"});
        CHECK(model.bert.encoder.layer[0].attention.self.heads_left == std::vector{0, 1, 2, 3});
    }

    TEST_CASE("heads by layer as text, and back; anything else is refused") {
        const HeadsByLayer heads{{0, {1}}, {1, {0, 2}}, {11, {10}}};
        CHECK(list_heads(heads) == "0:1;1:0,2;11:10");
        CHECK(parse_heads("0:1;1:0,2;11:10") == heads);
        CHECK(list_heads(HeadsByLayer{}).empty());
        CHECK(parse_heads("").empty());
        CHECK(list_heads(HeadsByLayer{{0, {}}, {2, {3}}}) == "2:3");
        for (const char* text : {"x", "1", "1:", ":1", "0:1;", ";0:1", "0:1,", "0:1,,2", "0:2,1", "0:1;0:2", "1:0;0:1",
                                 "0:01", " 0:1", "0:1 ", "0:99999999999", "0:1,1", "0:1:2"})
            check_error([&] { parse_heads(text); }, {"pruned_heads", text, "as in 0:1;1:0,2"});
    }

    TEST_CASE("gradients of the head mask against finite differences, before heads are cut out and after" *
              doctest::skip(!in_double)) {
        for (const std::string kind : {"absolute", "relative_key_query"}) {
            CAPTURE(kind);
            stage15::Model model = make(sizes(kind));
            BertInput input = some_input();
            input.head_mask = random_tensor({2, 4}, 5);
            auto logits = [&] { return model(input).prediction_logits; };
            check_gradients(logits, {input.head_mask});
            model.prune_heads({{0, {1, 3}}, {1, {0, 1, 2}}});
            check_gradients(logits, {input.head_mask});
        }
    }

    TEST_CASE("importance is |dL/dmask| of each row, summed over a batch, mean over batches; it leaves no gradient") {
        Options o = tiny();
        PreTraining objective(o, built_in_tales(), make_stage);
        BertConfig config = bert_config(o, built_in_tales().tokenizer.size());
        stage15::Model model = make(config);
        std::vector<double> importance = head_importance(Part::val, objective, model, config, o);
        REQUIRE(importance.size() == 8);
        for (const auto& [name, tensor] : model.parameters) CHECK_FALSE(tensor.has_grad());
        const double h = in_double ? 1e-5 : 1e-2;
        for (size_t head : {0, 3, 6}) {
            double mean = 0;
            for (uint64_t i = 0; i < 2; ++i) {
                Rng rng(o.seed, "evaluation of val", i);
                auto batch = objective.draw(Part::val, rng);
                for (int row = 0; row < batch->rows(); ++row) {
                    auto loss = [&](double change) {
                        NoGrad evaluation;
                        Tensor mask = mask_without({}, config);
                        mask.values()[head] += real(change);
                        return double(batch->loss(MaskedModel(model, mask), row, row + 1).item());
                    };
                    mean += std::abs(loss(h) - loss(-h)) / (2 * h) / 2;
                }
            }
            CHECK(importance[head] == doctest::Approx(mean).epsilon(in_double ? 1e-6 : 2e-2));
        }
    }

    TEST_CASE("heads go one by one, each time the one that is missed least; the last of a layer stays") {
        BertConfig config = sizes("absolute", {{1, {3}}});
        // Head h of layer l is worth 1 + h + 10 l, but 0.0 and 0.1 do the same: without both much is lost.
        auto loss = [](const HeadsByLayer& off) {
            double lost = 0;
            for (const auto& [layer, heads] : off)
                for (int head : heads) lost += 1 + head + 10 * layer;
            bool both = off.contains(0) && off.at(0).contains(0) && off.at(0).contains(1);
            return lost + 100 * both;
        };
        std::string order;
        for (const Head& head : cutting_order(config, loss)) order += head.name() + " ";
        CHECK(order == "0.0 0.2 0.3 1.0 1.1 ");
    }

    TEST_CASE("a pruned layer does not stay in the optimiser: an old one refuses, a new one trains the small model") {
        stage15::Model model = make(sizes());
        auto loss = [&] { return sum(model(some_input()).seq_relationship_logits * 0.1); };
        AdamW old(model.parameters);
        loss().backward();
        old.step(1e-2);
        model.prune_heads({{0, {1}}, {1, {0, 2}}});
        loss().backward();
        check_error([&] { old.step(1e-2); },
                    {"layer.0.attention.self.query.weight", "(16,16)", "(12,16)", "new optimiser"});
        AdamW fresh(model.parameters);
        double before = loss().item();
        fresh.step(1e-2);
        CHECK(loss().item() < before);
    }

    TEST_CASE("a small model through a file: it is built again without the heads, and trains as it would have") {
        Options o = tiny("0:1;1:0,2");
        PreTraining objective(o, built_in_tales(), make_stage);
        Trainer trainer(o, objective);
        trainer.step();
        auto& model = static_cast<stage15::Model&>(trainer.model());
        CHECK(model.bert.encoder.layer[1].attention.self.heads_left == std::vector{1, 3});
        SavedModel saved = parse_model(to_safetensors(objective.describe(model, 1, {})), "small.safetensors", tiny());
        CHECK(saved.options.pruned_heads == "0:1;1:0,2");
        Rng rng(5);
        stage15::Model again(bert_config(saved.options, built_in_tales().tokenizer.size()), rng);
        CHECK(again.parameter_count() == model.parameter_count());
        restore(again.parameters, saved.checkpoint, "", "small.safetensors");
        for (size_t i = 0; i < again.parameters.size(); ++i)
            CHECK(same_bytes(again.parameters[i].tensor.values(), model.parameters[i].tensor.values()));
        stage15::Model whole(bert_config(tiny(), built_in_tales().tokenizer.size()), rng);
        check_error([&] { restore(whole.parameters, saved.checkpoint, "", "small.safetensors"); },
                    {"small.safetensors", "self.query.weight is (12,16), the model's is (16,16)"});
    }
}
