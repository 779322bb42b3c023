// Stage 14: an encoder and a decoder, against Hugging Face's numbers; what the caches may not change; what it refuses.
#include "common/babygpt.h"
#include "tests/check.h"
#include "tests/fixture.h"

#define main stage_main
namespace stage14 {
#include "stages/14_translate.cpp"
}
#undef main

using namespace babygpt;

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

stage14::Model make(const std::string& positions) {
    Rng rng(1);
    stage14::Model model(sizes(positions), rng);
    uint64_t seed = 0;
    for (auto& [name, tensor] : model.parameters)  // large enough that every path matters
        std::ranges::copy(random_tensor(tensor.shape(), ++seed, 0.4).values(), tensor.values().begin());
    return model;
}

stage14::BertModel load_decoder(const Fixture& fixture, const std::string& positions) {
    Rng rng(1);
    stage14::BertModel decoder(stage14::as_decoder(sizes(positions)), rng);
    for (auto& [name, tensor] : decoder.parameters)
        std::ranges::copy(fixture.constant("model." + name).values(), tensor.values().begin());
    return decoder;
}

Tokens columns(const Tokens& all, int first, int last) {
    std::vector<int> ids;
    for (int b = 0; b < all.B; ++b)
        ids.insert(ids.end(), all.ids.begin() + b * all.T + first, all.ids.begin() + b * all.T + last);
    return {all.B, last - first, ids};
}
// Of a mask (B, 1, 1, T).
Mask first_places(const Mask& mask, int n) {
    Mask some{{mask.shape[0], 1, 1, n}, {}};
    for (auto row = mask.values.begin(); row != mask.values.end(); row += mask.shape[3])
        some.values.insert(some.values.end(), row, row + n);
    return some;
}
Tokens row(const Tokens& all, int b, int length) {
    auto first = all.ids.begin() + b * all.T;
    return {1, length, {first, first + length}};
}

// Three rows of 7 tokens, written after 6 encoder states of which 6, 4 and 2 are no padding.
struct Decoding {
    Fixture fixture;
    Tokens ids;
    BertInput input;

    explicit Decoding(const std::string& kind)
        : fixture("decoder_" + kind),
          ids(3, 7, fixture.integers("in.ids")) {
        Mask mask = fixture.mask("in.encoder_mask");
        mask.shape = {3, 1, 1, 6};
        input = {.input_ids = ids,
                 .encoder_hidden_states = fixture.constant("in.encoder_hidden"),
                 .encoder_attention_mask = mask};
    }

    // The tokens in steps of these sizes, each after what is in the cache.
    Tensor by_steps(const stage14::BertModel& decoder, const std::vector<int>& steps,
                    std::vector<PastKeyValue>& past) const {
        NoGrad writing;
        std::vector<Tensor> parts;
        BertInput step = input;
        step.past_key_values = &past;
        int first = 0;
        for (int n : steps) {
            step.input_ids = columns(ids, first, first + n);
            if (!input.attention_mask.values.empty())
                step.attention_mask = first_places(input.attention_mask, first + n);
            parts.push_back(decoder(step));
            first += n;
        }
        return concat(parts, 1);
    }
};

Tokens source_ids() { return {3, 6, {2, 9, 8, 7, 6, 3, 2, 5, 4, 3, 0, 0, 2, 3, 0, 0, 0, 0}}; }
Tokens target_ids() { return {3, 5, {2, 11, 12, 13, 14, 2, 15, 16, 0, 0, 2, 17, 18, 19, 0}}; }
const std::vector<int> source_lengths{6, 4, 2}, target_lengths{5, 3, 4};

Tensor logits_of(const stage14::Model& model, const Tokens& source, const Mask& seen, const Tokens& target,
                 const Mask& own) {
    Tensor states = model.encode({.input_ids = source, .attention_mask = seen});
    return model.decode(
        {.input_ids = target, .attention_mask = own, .encoder_hidden_states = states, .encoder_attention_mask = seen});
}
Tensor batch_logits(const stage14::Model& model) {
    return logits_of(model, source_ids(), padding(source_lengths, 6), target_ids(), padding(target_lengths, 5));
}

}  // namespace

TEST_SUITE("translate") {
    TEST_CASE("14's decoder computes every hidden state and attention map that Hugging Face does") {
        for (const std::string kind : {"absolute", "relative_key_query"}) {
            CAPTURE(kind);
            Decoding decoding(kind);
            stage14::BertModel decoder = load_decoder(decoding.fixture, kind);
            std::vector<Tensor> attentions, cross_attentions;
            BertInput input = decoding.input;
            input.attentions = &attentions, input.cross_attentions = &cross_attentions;
            check_answer(decoder(input), decoding.fixture.constant("out.last_hidden"));
            REQUIRE(attentions.size() == 2);
            REQUIRE(cross_attentions.size() == 2);
            for (size_t i = 0; i < 2; ++i) {
                check_answer(attentions[i], decoding.fixture.constant(str("out.attention.", i)));
                check_answer(cross_attentions[i], decoding.fixture.constant(str("out.cross_attention.", i)));
            }
        }
    }

    TEST_CASE("step by step with the cache: the same hidden states, and the four cached tensors of each layer") {
        for (const std::string kind : {"absolute", "relative_key_query"}) {
            CAPTURE(kind);
            Decoding decoding(kind);
            stage14::BertModel decoder = load_decoder(decoding.fixture, kind);
            std::vector<PastKeyValue> past;
            Tensor states = decoding.by_steps(decoder, {1, 1, 1, 1, 1, 1, 1}, past);
            check_answer(states, decoding.fixture.constant("out.last_hidden"));
            REQUIRE(past.size() == 2);
            for (size_t i = 0; i < 2; ++i) {
                auto check = [&](const Tensor& kept, const std::string& name) {  // (B, T, heads, H), (B, heads, T, H)
                    check_answer(transpose(kept, 1, 2), decoding.fixture.constant(str("out.cache.", i, ".", name)));
                };
                check(past[i].self.key, "self_key"), check(past[i].self.value, "self_value");
                check(past[i].cross.key, "cross_key"), check(past[i].cross.value, "cross_value");
            }
        }
    }

    TEST_CASE("with a cache, any split of the new tokens gives what the whole gives") {
        for (const std::string kind : {"absolute", "relative_key_query"})
            for (const std::vector<int>& steps : std::vector<std::vector<int>>{{7}, {3, 4}, {1, 5, 1}, {4, 2, 1}}) {
                CAPTURE(kind);
                CAPTURE(steps.size());
                Decoding decoding(kind);
                stage14::BertModel decoder = load_decoder(decoding.fixture, kind);
                std::vector<PastKeyValue> past;
                check_answer(decoding.by_steps(decoder, steps, past), decoder(decoding.input), rounding);
                CHECK(past[1].self.length() == 7);
                CHECK(past[1].cross.length() == 6);
            }
    }

    TEST_CASE("padding and a cache together: by steps, each with a mask of past and new, it is the whole again") {
        for (const std::string kind : {"absolute", "relative_key_query"})
            for (const std::vector<int>& steps : std::vector<std::vector<int>>{{1, 1, 1, 1, 1, 1, 1}, {3, 4}, {5, 2}}) {
                CAPTURE(kind);
                CAPTURE(steps.size());
                Decoding decoding(kind), padded(kind);
                stage14::BertModel decoder = load_decoder(decoding.fixture, kind);
                // At the beginning, where it is if texts of different lengths are continued side by side.
                const std::vector<char> seen{1, 1, 1, 1, 1, 1, 1,   //
                                             0, 0, 1, 1, 1, 1, 1,   //
                                             0, 0, 0, 0, 1, 1, 1};  //
                padded.input.attention_mask = {{3, 1, 1, 7}, seen};
                Tensor whole = decoder(padded.input), unpadded = decoder(decoding.input);
                std::vector<PastKeyValue> past;
                check_answer(padded.by_steps(decoder, steps, past), whole, rounding);
                for (int b : {0, 1, 2}) {
                    auto last = [&](const Tensor& x) { return x.values().subspan(size_t(b * 7 + 6) * 16, 16); };
                    CHECK((difference(last(whole), last(unpadded)) > 1e-3) == (b > 0));
                }
            }
    }

    TEST_CASE("the cross cache is read, not computed again: other encoder states change nothing after the first step") {
        Decoding decoding("absolute");
        stage14::BertModel decoder = load_decoder(decoding.fixture, "absolute");
        std::vector<PastKeyValue> past;
        decoding.by_steps(decoder, {1}, past);
        std::vector<PastKeyValue> same = past;
        BertInput next = decoding.input;
        next.input_ids = columns(decoding.ids, 1, 2);
        next.past_key_values = &past;
        Tensor right = decoder(next);
        next.encoder_hidden_states = random_constant({3, 6, 16});
        next.past_key_values = &same;
        CHECK(same_bytes(right.values(), decoder(next).values()));
    }

    TEST_CASE("a writer does not look ahead: a later token changes no earlier place") {
        for (const std::string& kind : kinds) {
            CAPTURE(kind);
            stage14::Model model = make(kind);
            Tokens ids = target_ids();
            auto logits = [&](const Tokens& target) {
                return logits_of(model, source_ids(), padding(source_lengths, 6), target, padding(target_lengths, 5));
            };
            Tensor before = logits(ids);
            for (size_t changed = 0; changed < 5; ++changed) {
                Tokens other = ids;
                other.ids[changed] = 20;
                Tensor after = logits(other);
                for (size_t place = 0; place < 5; ++place) {
                    bool same =
                        same_bytes(before.values().subspan(place * 23, 23), after.values().subspan(place * 23, 23));
                    CHECK(same == (place < changed));
                }
            }
        }
    }

    TEST_CASE("every character that was read has a say in every place that is written") {
        stage14::Model model = make("absolute");
        Tensor before = batch_logits(model);
        for (size_t changed = 0; changed < 6; ++changed) {
            Tokens other = source_ids();
            other.ids[changed] = 20;
            Tensor after =
                logits_of(model, other, padding(source_lengths, 6), target_ids(), padding(target_lengths, 5));
            for (size_t place = 0; place < 5; ++place)
                CHECK_FALSE(
                    same_bytes(before.values().subspan(place * 23, 23), after.values().subspan(place * 23, 23)));
            CHECK(same_bytes(before.values().subspan(5 * 23), after.values().subspan(5 * 23)));  // nor in other rows
        }
    }

    TEST_CASE("padding has no effect, read or written: a row in a batch gives what it gives alone, forward and back") {
        for (const std::string& kind : kinds)
            for (int b = 0; b < 3; ++b) {
                CAPTURE(kind);
                CAPTURE(b);
                int S = source_lengths[size_t(b)], T = target_lengths[size_t(b)];
                Tokens labels = row(Tokens(1, 5, {1, 5, 6, 7, 8}), 0, T);
                std::vector<std::vector<real>> gradients[2];
                Tensor answers[2];
                for (int padded : {0, 1}) {
                    stage14::Model model = make(kind);
                    Tensor logits = padded ? logits_of(model, row(source_ids(), b, 6), padding({S}, 6),
                                                       row(target_ids(), b, 5), padding({T}, 5))
                                           : logits_of(model, row(source_ids(), b, S), {}, row(target_ids(), b, T), {});
                    answers[padded] = slice(logits, 1, 0, T);
                    cross_entropy(answers[padded], labels).backward();
                    for (const auto& [name, tensor] : model.parameters)
                        gradients[padded].push_back(tensor.has_grad() ? copy(tensor.grad()) : std::vector<real>{});
                }
                check_answer(answers[1], answers[0], rounding);
                for (size_t i = 0; i < gradients[0].size(); ++i)
                    if (!gradients[0][i].empty()) CHECK(difference(gradients[0][i], gradients[1][i]) < 10 * rounding);
            }
    }

    TEST_CASE("what the original refuses: cross-attention outside a decoder, encoder states that nobody looks at") {
        Rng rng(1);
        BertConfig config = sizes("absolute");
        config.add_cross_attention = true;
        check_error([&] { stage14::BertModel(config, rng); },
                    {"should be used as a decoder model if cross attention is added"});
        config.add_cross_attention = false, config.is_decoder = true;
        stage14::BertModel no_cross(config, rng);
        BertInput input{.input_ids = Tokens(1, 2, {5, 6}), .encoder_hidden_states = Tensor::zeros({1, 3, 16})};
        check_error([&] { no_cross(input); },
                    {"If `encoder_hidden_states` are passed", "config.add_cross_attention=True"});
    }

    TEST_CASE("an encoder refuses what only a decoder takes: states to look at, a cache, cross-attentions") {
        stage14::Model model = make("absolute");
        std::vector<PastKeyValue> past;
        std::vector<Tensor> kept;
        BertInput told{.input_ids = Tokens(1, 2, {5, 6})}, cache = told, cross = told;
        told.encoder_hidden_states = Tensor::zeros({1, 3, 16});
        cache.past_key_values = &past, cross.cross_attentions = &kept;
        for (const BertInput& wrong : {told, cache, cross})
            check_error([&] { model.encode(wrong); }, {"would ignore encoder_hidden_states, past_key_values"});
        CHECK(past.empty());
    }

    TEST_CASE("past and new tokens together may not be longer than the positions") {
        stage14::Model model = make("absolute");
        std::vector<PastKeyValue> past;
        BertInput input{.input_ids = Tokens(1, 10, std::vector<int>(10, 5)),
                        .encoder_hidden_states = Tensor::zeros({1, 2, 16}),
                        .past_key_values = &past};
        model.decode(input);
        input.input_ids = Tokens(1, 3, {5, 6, 7});
        check_error([&] { model.decode(input); }, {"13 tokens", "12 positions"});
    }

    TEST_CASE("cross-attention knows no distances: one table a layer, of the self-attention alone") {
        for (const auto& [name, tensor] : make("relative_key").parameters)
            if (name.ends_with("distance_embedding.weight")) CHECK(name.find("crossattention") == name.npos);
    }

    TEST_CASE("the names are those of Hugging Face's EncoderDecoderModel") {
        std::vector<std::string> names;
        for (const auto& [name, tensor] : make("absolute").parameters) names.push_back(name);
        for (const char* name :
             {"encoder.embeddings.word_embeddings.weight", "encoder.encoder.layer.0.attention.self.query.weight",
              "decoder.bert.embeddings.LayerNorm.bias", "decoder.bert.encoder.layer.1.crossattention.self.key.weight",
              "decoder.bert.encoder.layer.0.crossattention.output.LayerNorm.weight", "decoder.cls.predictions.bias",
              "decoder.cls.predictions.transform.dense.weight"})
            CHECK_MESSAGE(std::ranges::count(names, name) == 1, name);
    }

    TEST_CASE("gradients of the whole model against finite differences, with dropout" * doctest::skip(!in_double)) {
        for (const std::string& kind : kinds) {
            CAPTURE(kind);
            stage14::Model model = make(kind);
            std::vector<Tensor> parameters;
            for (auto& [name, tensor] : model.parameters) {
                bool unused = kind != "absolute" && name.ends_with("position_embeddings.weight");
                // Added to all scores of a query alike, the keys' bias changes nothing, unless distances meet it.
                bool without_effect = name.ends_with("key.bias") &&
                                      (kind != "relative_key_query" || name.find("crossattention") != name.npos);
                if (!unused && !without_effect) parameters.push_back(tensor);
            }
            Tokens labels(3, 5, {5, 6, 7, 8, 3, 9, 3, -100, -100, 4, 10, 11, 12, 3, -100});
            check_gradients(
                [&] {
                    Rng noise(1, "dropout");
                    DropoutScope training(noise);
                    return cross_entropy(batch_logits(model), labels);
                },
                parameters, 20);
        }
    }
}
