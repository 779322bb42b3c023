// The workshop: what it shows of a model is what the model computes.
#include "common/text/utf8.h"
#include "common/write/sampler.h"
#include "common/write/translator.h"
#include "docs/workshop/look.h"
#include "docs/workshop/write.h"
#include "tests/check.h"
#include "tests/workshop_model.h"

using namespace babygpt;
using namespace babygpt::workshop;
using Json = nlohmann::json;

namespace {

std::vector<std::string> with_heads() {
    std::vector<std::string> names;
    for (const auto& [name, unused] : stages)
        if (has_attention(name)) names.push_back(name);
    for (const auto& [name, unused] : readers()) names.push_back(name);
    for (const auto& [name, unused] : translator_stages) names.push_back(name);
    return names;
}

// Every row of every head: what softmax makes of the scores shown is the weight that the model used.
void check_rows(const Opened& opened, const Question& question) {
    Json seen = look(opened, question);
    REQUIRE(!seen["heads"].empty());
    for (const Json& head : seen["heads"])
        for (int row = 0; row < head["rows"]; ++row) {
            Json shown = look_at_row(opened, question, head["part"], head["layer"], head["head"], row);
            double total = 0, weights = 0;
            size_t size = shown["size"];
            std::vector<double> query = shown["query"], keys = shown["keys"], values = shown["values"], result(size);
            for (size_t j = 0; const Json& place : shown["places"]) {
                double content = 0, distance = place.value("distance", 0.0), weight = place["weight"];
                for (size_t c = 0; c < size; ++c) {
                    content += query[c] * keys[j * size + c];
                    result[c] += weight * values[j * size + c];
                }
                CHECK(std::abs(double(place["content"]) - content) < 1e-4);
                CHECK(std::abs(double(place["scaled"]) - (content + distance) / std::sqrt(double(size))) < 1e-4);
                ++j;
                total += place["seen"] ? std::exp(double(place["scaled"])) : 0;
                weights += weight;
            }
            CHECK(weights == doctest::Approx(1));
            for (size_t c = 0; c < size; ++c) CHECK(std::abs(double(shown["result"][c]) - result[c]) < 1e-4);
            for (const Json& place : shown["places"]) {
                double weight = place["weight"], score = place["scaled"];
                CHECK(std::abs(weight - (place["seen"] ? std::exp(score) / total : 0)) < 1e-5);
            }
        }
}

}  // namespace

TEST_SUITE("workshop") {
    TEST_CASE("recording: keeps layers and weights of attention while it lives, and changes no number") {
        Tensor q = random_tensor({2, 70, 8}, 1), k = random_tensor({2, 70, 8}, 2), v = random_tensor({2, 70, 8}, 3);
        NoGrad looking;
        Tensor before = causal_attention(q, k, v, 2);
        Recording recording;
        Tensor fused = causal_attention(q, k, v, 2);
        attention(q, k, v, 2, tril(70));
        CHECK(same_bytes(before.values(), fused.values()));
        REQUIRE(recording.entries.size() == 2);
        CHECK(to_string(recording.entries[0].result.shape()) == "(2,2,70,70)");
        CHECK(difference(recording.entries[0].result.values(), recording.entries[1].result.values()) < rounding);
        {
            Recording inner;
            Tensor weight = random_tensor({4, 8}, 4);
            linear(q, weight);
            CHECK(inner.entries.size() == 1);
            CHECK(inner.entries[0].weight.node == weight.node);
        }
        CHECK(recording.entries.size() == 2);
        CHECK(is_recorded());
    }

    TEST_CASE("look: of every stage with attention, each row shown is what the model computed") {
        for (const std::string& stage : with_heads()) {
            CAPTURE(stage);
            check_rows(open_tiny(tiny(stage)), {text});
        }
        for (const std::string positions : {"relative_key", "relative_key_query"})
            for (const std::string stage : {"12_relative", "13_bert", "14_translate"}) {
                CAPTURE(stage);
                CAPTURE(positions);
                check_rows(open_tiny(tiny(stage, positions)), {text});
            }
        check_rows(open_tiny(tiny("13_bert")), {.text = "bad", .second = "he_d", .padding = 5});
    }

    TEST_CASE("look: the share of distance is that of the queries' products with the distances' vectors") {
        Opened opened = open_tiny(tiny("12_relative"));
        Json seen = look(opened, {text});
        REQUIRE(seen["heads"].size() == 4);
        for (const Json& head : seen["heads"]) {
            int layer = head["layer"], H = head["size"];
            Tensor table;  // (2 * 24 - 1, H)
            for (const auto& [name, tensor] : opened.module().parameters)
                if (name == str("blocks.", layer, ".attention.distance_embedding.weight")) table = tensor;
            REQUIRE(table.node);
            double content = 0, distance = 0;
            for (int i = 0; i < head["rows"]; ++i) {
                Json row = look_at_row(opened, {text}, "", layer, head["head"], i);
                for (int j = 0; j <= i; ++j) {
                    double of_keys = 0, of_distance = 0;
                    for (int c = 0; c < H; ++c) {
                        double q = row["query"][size_t(c)];
                        of_keys += q * double(row["keys"][size_t(j * H + c)]);
                        of_distance += q * double(table.values()[size_t((i - j + 23) * H + c)]);
                    }
                    CHECK(std::abs(double(row["places"][size_t(j)]["distance"]) - of_distance) < 1e-4);
                    content += std::abs(of_keys), distance += std::abs(of_distance);
                }
            }
            CHECK(std::abs(double(head["distance"]) - distance / (content + distance)) < 1e-4);
        }
    }

    TEST_CASE("look: the heads of a layer share its vectors of distances") {
        Opened opened = open_tiny(tiny("12_relative"));
        Recording recording;
        (*opened.writer)(Tokens(1, 3, {2, 3, 4}));
        std::vector<Head> heads = heads_of(recording, opened.module());
        REQUIRE(heads.size() == 4);
        CHECK(heads[0].d.count() == 3 * 3 * 4);
        CHECK(heads[0].d.node == heads[1].d.node);
        CHECK(heads[1].d.node != heads[2].d.node);
    }

    TEST_CASE("look: a text with more weights of attention than can be shown is refused") {
        const std::string longer(2800, 'a');
        for (const auto& [stage, most] : std::map<std::string, std::string>{
                 {"10_gpt", "2738"}, {"12_relative", "1581"}, {"13_bert", "912"}, {"14_translate", "1581"}}) {
            CAPTURE(stage);
            Options options = tiny(stage);
            options.block_size = 3000;
            Opened opened = open_tiny(options);
            check_error([&] { look(opened, {longer}); }, {"at most " + most + " characters can be looked at"});
            check_error([&] { look_at_row(opened, {longer}, "", 0, 0, 0); }, {most});
            if (stage == "14_translate")
                check_error([&] { look(opened, {text}); }, {most});  // it may write as many as it can read
            else
                CHECK(look(opened, {text})["heads"].size() == 4);
        }
    }

    TEST_CASE("look: the lines between a text and its translation are the model's cross-attentions") {
        Opened opened = open_tiny(tiny("14_translate"));
        Translator translator{*opened.translator, opened.tokenizer, 24};
        Json seen = look(opened, {"bad"});
        std::string translation = seen["translation"];
        std::vector<Tensor> weights = align(translator, "bad", translation).cross_attentions;
        REQUIRE(weights.size() == 2);
        for (int layer = 0; layer < 2; ++layer)
            for (int head = 0; head < 2; ++head) {
                const Tensor& of_layer = weights[size_t(layer)];  // (1, heads, written, read)
                REQUIRE(int(seen["written"].size()) == of_layer.size(2));
                for (int i = 0; i < int(seen["written"].size()); ++i) {
                    Json places = look_at_row(opened, {"bad"}, "cross", layer, head, i)["places"];
                    REQUIRE(int(places.size()) == of_layer.size(3));
                    for (int j = 0; j < of_layer.size(3); ++j)
                        CHECK(std::abs(double(places[size_t(j)]["weight"]) -
                                       double(of_layer.values()[size_t(
                                           (head * of_layer.size(2) + i) * of_layer.size(3) + j)])) < 1e-5);
                }
            }
    }

    TEST_CASE("look: a head whose neighbours were cut out keeps its number") {
        Options options = tiny("15_prune");
        options.n_head = 4, options.pruned_heads = "0:0,2;1:3";
        Opened opened = open_tiny(options);
        check_rows(opened, {text});
        Json seen = look(opened, {text});
        std::string numbers;
        for (const Json& head : seen["heads"]) numbers += str(head["layer"], ".", head["head"], " ");
        CHECK(numbers == "0.1 0.3 1.0 1.1 1.2 ");
    }

    TEST_CASE("look: surprise and guesses are those of the logits; a character is a character") {
        Opened opened = open_tiny(tiny("10_gpt"));
        Json seen = look(opened, {text});
        CHECK(seen["read"].size() == 12);
        CHECK(seen["read"][9] == "树");
        CHECK(seen["heads"].size() == 4);
        std::vector<int> ids = opened.vocabulary().encode(decode_utf8(text, "text"), "text");
        Tensor loss = cross_entropy((*opened.writer)(Tokens(1, 11, {ids.begin(), ids.end() - 1})),
                                    Tokens(1, 11, {ids.begin() + 1, ids.end()}));
        double total = 0;
        for (const Json& nats : seen["surprise"])
            if (!nats.is_null()) total += double(nats);
        CHECK(total / 11 == doctest::Approx(double(loss.item())).epsilon(1e-5));
        CHECK(seen["likely"][0][0][1] >= seen["likely"][0][1][1]);
        Json longer = look(opened, {text + text + text});
        CHECK(longer["cut"] == 12);
        CHECK(longer["read"].size() == 24);
    }

    TEST_CASE("look: a BERT's surprise is by each character covered alone; a translator shows its translation") {
        Opened bert = open_tiny(tiny("13_bert"));
        Json whole = look(bert, {"bad"}), blank = look(bert, {"b_d"});
        CHECK(whole["surprise"][0].is_null());
        CHECK(blank["surprise"][2].is_null());
        CHECK(whole["likely"][2] == blank["likely"][2]);
        Opened translator = open_tiny(tiny("14_translate"));
        Json seen = look(translator, {"bad"});
        CHECK(seen["translation"] == translate({*translator.translator, translator.tokenizer, 24}, {"bad"})[0]);
    }

    TEST_CASE("look: a character that a BERT does not know is named with its place, a byte order mark as any other") {
        Opened bert = open_tiny(tiny("13_bert"));
        check_error(
            [&] {
                look(bert, {"ba\xEF\xBB\xBF"
                            "d"});
            },
            {"U+FEFF", "at position 3"});
        check_error([&] { look(bert, {"_x"}); }, {"the text", "'x'", "at position 2"});
        check_error([&] { look(bert, {.text = "bad", .second = "he_ y"}); },
                    {"the second text", "'y'", "at position 5"});
    }

    TEST_CASE("look: a model of which a number is none gets a clear answer") {
        for (const std::string stage : {"05_feedforward", "10_gpt", "13_bert", "14_translate"})
            for (const std::string what : {"query.weight", "embedding", "bias"}) {
                Opened opened = open_tiny(tiny(stage));
                for (const auto& [name, tensor] : opened.module().parameters)
                    if (name.find(what) != name.npos) Tensor(tensor).values()[0] = NAN;
                CAPTURE(stage);
                CAPTURE(what);
                std::vector<std::string> words{"not numbers"};
                check_error([&] { look(opened, {"\n bad"}); }, words);
                if (what == "query.weight") check_error([&] { look_at_parts(opened, {"\n bad"}); }, words);
            }
    }

    TEST_CASE("write: in pieces it is what sample writes at once") {
        Opened opened = open_tiny(tiny("10_gpt"));
        Options options{.tokens = 7};
        std::string so_far = "\n\n";
        std::optional<uint64_t> random;
        for (int piece = 0; piece < 4; ++piece) {
            Json answer = write_on(opened, so_far, options, random);
            for (const Json& one : answer["written"]) so_far += one["character"].get<std::string>();
            random = std::stoull(answer["random"].get<std::string>());
            double left = 0;
            for (const Json& choice : answer["next"]) left += double(choice[2]);
            CHECK(left == doctest::Approx(1));
        }
        options.tokens = 28;
        CHECK(so_far == "\n\n" + write_text(next_logits(*opened.writer, 24), opened.vocabulary(), options));
    }
}
