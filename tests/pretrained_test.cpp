// Models from Hugging Face: every form that its files have had loads to the same numbers, and what cannot be used is
// refused with one line that says why.
#include <nlohmann/json.hpp>

#include "common/text/wordpiece.h"
#include "common/train/pretrained.h"

#include "tests/small_bert.h"

using namespace babygpt;

namespace {

Pretrained load(const SmallBert& bert) {
    Shell shell;
    return load_pretrained(bert.write(shell, "bert"));
}

// The model has to be refused with one line that names the file, or the directory, and holds these words.
void refused(const SmallBert& bert, const std::vector<std::string>& words) {
    std::string message = "(no error)";
    try {
        load(bert);
    } catch (const Error& error) {
        message = error.what();
    }
    CAPTURE(message);
    CHECK(message.find("/bert") != message.npos);
    CHECK(message.find('\n') == message.npos);
    for (const std::string& word : words) CHECK_MESSAGE(message.find(word) != message.npos, "should say ", word);
}

bool is_lower_case(const Pretrained& loaded) { return dynamic_cast<const WordPiece&>(*loaded.tokenizer).lower_case; }

// Every parameter of BertForPreTraining that was written is there under its name of today, with its numbers.
void check_loaded(const Pretrained& loaded, const SmallBert& expected) {
    CHECK(loaded.checkpoint.tensors.size() == expected.tensors.size());
    for (const auto& [name, tensor] : loaded.checkpoint.tensors) {
        CAPTURE(name);
        REQUIRE(expected.tensors.contains(name));
        const StoredTensor& stored = expected.tensors.at(name);
        CHECK(to_string(tensor.shape()) == to_string(stored.shape));
        CHECK(std::ranges::equal(tensor.values(), stored.numbers));
    }
}

}  // namespace

TEST_SUITE("pretrained") {
    TEST_CASE("pretrained: config, vocabulary and every tensor are loaded, from each type of numbers") {
        for (const char* dtype : {"F32", "F64", "F16", "BF16"}) {
            CAPTURE(dtype);
            SmallBert bert(dtype);
            Pretrained loaded = load(bert);
            check_loaded(loaded, bert);
            CHECK(loaded.config.vocab_size == 23);
            CHECK(loaded.config.hidden_size == 16);
            CHECK(loaded.config.num_hidden_layers == 2);
            CHECK(loaded.config.num_attention_heads == 4);
            CHECK(loaded.config.intermediate_size == 24);
            CHECK(loaded.config.hidden_act == "gelu");
            CHECK(loaded.config.hidden_dropout_prob == 0.1);
            CHECK(loaded.config.max_position_embeddings == 12);
            CHECK(loaded.config.layer_norm_eps == 1e-12);
            CHECK(loaded.config.position_embedding_type == "absolute");
            CHECK(loaded.tokenizer->tokens == bert.tokens);
            CHECK(is_lower_case(loaded));
            CHECK(loaded.has_pooler);
            CHECK(loaded.has_predictions);
            CHECK(loaded.has_seq_relationship);
        }
    }

    TEST_CASE("pretrained: relative positions have distances in every layer") {
        for (const char* positions : {"relative_key", "relative_key_query"}) {
            SmallBert bert("F32", positions);
            Pretrained loaded = load(bert);
            CHECK(loaded.config.position_embedding_type == positions);
            check_loaded(loaded, bert);
            bert.config["position_embedding_type"] = "absolute";
            refused(bert, {"layer.0.attention.self.distance_embedding", "no place"});
        }
    }

    TEST_CASE("pretrained: old names, tied copies and integer buffers come to the same") {
        const SmallBert expected;
        SmallBert old_names, copies, buffers, all("BF16");
        old_names.use_old_names();
        copies.add_tied_copies();
        buffers.add_buffers();
        all.use_old_names(), all.add_tied_copies(), all.add_buffers();
        for (const SmallBert& bert : {old_names, copies, buffers, all}) check_loaded(load(bert), expected);
        copies.tensors.erase("cls.predictions.bias");  // the copy is all there is of it
        check_loaded(load(copies), expected);
    }

    TEST_CASE("pretrained: a copy of a tied tensor that differs is refused") {
        for (const char* name : {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}) {
            SmallBert bert;
            bert.add_tied_copies();
            bert.tensors[name].numbers[5] += 1;
            refused(bert, {name, "differs from"});
            bert.add_tied_copies();
            bert.tensors[name].shape.push_back(1);
            refused(bert, {name, "differs from"});
        }
    }

    TEST_CASE("pretrained: a model without heads, without a pooler, without a prefix says what it lacks") {
        SmallBert expected, alone, masked;
        expected.drop("cls.");
        alone.keep_model_only();
        Pretrained loaded = load(alone);
        check_loaded(loaded, expected);
        CHECK(loaded.has_pooler);
        CHECK(!loaded.has_predictions);
        CHECK(!loaded.has_seq_relationship);
        alone.drop("pooler."), expected.drop("pooler.");
        loaded = load(alone);
        check_loaded(loaded, expected);
        CHECK(!loaded.has_pooler);
        masked.drop("pooler."), masked.drop("seq_relationship");  // BertForMaskedLM
        loaded = load(masked);
        check_loaded(loaded, masked);
        CHECK(!loaded.has_pooler);
        CHECK(loaded.has_predictions);
        CHECK(!loaded.has_seq_relationship);
    }

    TEST_CASE("pretrained: a part that is there by half, or a tensor that is missing, is named") {
        for (const char* name :
             {"bert.pooler.dense.bias", "cls.predictions.bias", "cls.seq_relationship.weight",
              "bert.embeddings.position_embeddings.weight", "bert.encoder.layer.1.attention.output.LayerNorm.weight"}) {
            SmallBert bert;
            bert.tensors.erase(name);
            refused(bert, {"model.safetensors has no tensor ", name});
        }
        SmallBert integers;
        for (double& number : integers.tensors["bert.pooler.dense.bias"].numbers) number = 1;
        integers.tensors["bert.pooler.dense.bias"].dtype = "I64";
        refused(integers, {"has no tensor bert.pooler.dense.bias"});
    }

    TEST_CASE("pretrained: tensors of another model are refused") {
        SmallBert classifier, both;
        classifier.tensors["classifier.weight"] = {"F32", {2}, {1, 2}};
        refused(classifier, {"classifier.weight", "no place"});
        both.tensors["bert.embeddings.LayerNorm.gamma"] = both.tensors["bert.embeddings.LayerNorm.weight"];
        refused(both, {"bert.embeddings.LayerNorm.weight twice"});
        SmallBert unknown("F8_E4M3");
        refused(unknown, {"is of type \"F8_E4M3\", not F32, F64, F16 or BF16"});
    }

    TEST_CASE("pretrained: sizes that the tensors or the vocabulary do not have are told with both") {
        auto with = [](const char* field, int value) {
            SmallBert bert;
            bert.config[field] = value;
            return bert;
        };
        refused(with("vocab_size", 24), {"vocab_size 24, but vocab.txt has 23 lines"});
        SmallBert both = with("vocab_size", 24);
        both.tokens.push_back("more");
        refused(both, {"word_embeddings.weight is (23,16), with its config.json it would be (24,16)"});
        refused(with("hidden_size", 32), {" is (16", " it would be (32"});
        refused(with("intermediate_size", 25), {"intermediate.dense.bias is (24)", "(25)"});
        refused(with("max_position_embeddings", 13), {"position_embeddings.weight is (12,16)", "(13,16)"});
        refused(with("type_vocab_size", 3), {"token_type_embeddings.weight is (2,16)", "(3,16)"});
        refused(with("num_hidden_layers", 1), {"bert.encoder.layer.1", "no place"});
        refused(with("num_hidden_layers", 3), {"has no tensor bert.encoder.layer.2"});
        refused(with("num_hidden_layers", 1000), {"has no tensor bert.encoder.layer.10."});
        refused(with("vocab_size", 1'000'000), {"vocab_size 1000000", "23 lines"});
    }

    TEST_CASE("pretrained: what config.json can be, and what our model does not compute, is said by name") {
        auto with = [](const char* field, const nlohmann::json& value, const std::vector<std::string>& words) {
            CAPTURE(field);
            SmallBert bert;
            bert.config[field] = value;
            std::vector<std::string> all{"config.json", field};
            all.insert(all.end(), words.begin(), words.end());
            refused(bert, all);
        };
        for (const char* other : {"relu", "silu", "gelu_fast", ""}) with("hidden_act", other, {"not gelu or gelu_new"});
        with("hidden_act", nullptr, {"null"});
        with("position_embedding_type", "rotary", {"\"rotary\", not absolute or relative_key or relative_key_query"});
        with("is_decoder", true, {"true, but here it can only be false"});
        with("add_cross_attention", true, {"can only be false"});
        with("tie_word_embeddings", false, {"can only be true"});
        with("pad_token_id", 1, {"1, but here it can only be 0"});
        with("pruned_heads", {{"0", {1}}}, {"an object, but here it can only be {}"});
        with("model_type", "roberta", {"\"roberta\", but here it can only be \"bert\""});
        with("hidden_size", "768", {"\"768\", not a whole number from 1 to 1000000"});
        for (const char* field : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                                  "intermediate_size", "max_position_embeddings", "type_vocab_size"})
            for (const nlohmann::json& value : {nlohmann::json(0), nlohmann::json(-1), nlohmann::json(1.5),
                                                nlohmann::json(16.0), nlohmann::json(1e300), nlohmann::json(UINT64_MAX),
                                                nlohmann::json(true), nlohmann::json(nullptr), nlohmann::json::array()})
                with(field, value, {"not a whole number from 1 to 1000"});
        for (const char* field : {"hidden_dropout_prob", "attention_probs_dropout_prob"})
            for (const nlohmann::json& value : {nlohmann::json(-0.1), nlohmann::json(1), nlohmann::json("0.1")})
                with(field, value, {"not a number from 0 to 0.99"});
        with("layer_norm_eps", 0, {"not a number from 1e-30 to 1"});
        with("layer_norm_eps", nlohmann::json::object(), {"{}, not a number"});
    }

    TEST_CASE("pretrained: heads that do not divide the hidden size are told in the original's words") {
        check_error([] { parse_config("{\"hidden_size\": 30, \"num_attention_heads\": 4}", "config.json"); },
                    {"config.json: The hidden size (30) is not a multiple of the number of attention heads (4)"});
    }

    TEST_CASE("pretrained: fields that change nothing are passed over, missing ones have Hugging Face's defaults") {
        BertConfig config =
            parse_config("{\"chunk_size_feed_forward\": 3, \"anything\": [1], \"pruned_heads\": null}", "f");
        CHECK(config.vocab_size == 30522);
        CHECK(config.hidden_size == 768);
        CHECK(config.layer_norm_eps == 1e-12);
        CHECK(parse_config("{\"hidden_act\": \"gelu_new\", \"hidden_dropout_prob\": 0}", "f").hidden_act == "gelu_new");
    }

    TEST_CASE("pretrained: a config.json that is no JSON object") {
        for (const char* text : {"", " ", "{", "[]", "null", "7", "\"x\"", "{\"hidden_size\": }", "{} {}", "\xFF",
                                 "{\"hidden_size\": NaN}"})
            check_error([&] { parse_config(text, "config.json"); }, {"config.json is damaged", "JSON object"});
        std::string deep = "{\"hidden_size\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
        check_error([&] { parse_config(deep, "config.json"); }, {"hidden_size an array, not a whole number"});
    }

    TEST_CASE("pretrained: a config that is saved comes back, and is one of BertForPreTraining") {
        BertConfig config{.vocab_size = 99,
                          .hidden_size = 32,
                          .num_hidden_layers = 3,
                          .num_attention_heads = 8,
                          .intermediate_size = 40,
                          .hidden_act = "gelu_new",
                          .hidden_dropout_prob = 0,
                          .attention_probs_dropout_prob = 0.25,
                          .max_position_embeddings = 33,
                          .type_vocab_size = 1,
                          .initializer_range = 0.5,
                          .layer_norm_eps = 1e-5,
                          .position_embedding_type = "relative_key"};
        const std::string text = save_config(config);
        auto json = nlohmann::json::parse(text);
        CHECK(json["model_type"] == "bert");
        CHECK(json["architectures"] == nlohmann::json::array({"BertForPreTraining"}));
        CHECK(json["hidden_size"].is_number_integer());
        CHECK(json.size() == 15);
        CHECK(save_config(parse_config(text, "config.json")) == text);
        CHECK(parse_config(text, "config.json").attention_probs_dropout_prob == 0.25);
        CHECK(save_config(parse_config(save_config({}), "config.json")) == save_config({}));
    }

    TEST_CASE("pretrained: tokenizer_config.json says whether capitals count") {
        SmallBert bert;
        bert.tokenizer_config = {{"do_lower_case", false}, {"strip_accents", nullptr}, {"model_max_length", 512}};
        CHECK(!is_lower_case(load(bert)));
        bert.tokenizer_config = {{"do_lower_case", true}, {"strip_accents", true}};
        CHECK(is_lower_case(load(bert)));
        bert.tokenizer_config = {{"tokenizer_class", "BertTokenizer"}};
        CHECK(is_lower_case(load(bert)));
        bert.tokenizer_config = {{"do_lower_case", "no"}};
        refused(bert, {"tokenizer_config.json has do_lower_case \"no\", not true or false"});
        bert.tokenizer_config = {{"do_lower_case", false}, {"strip_accents", true}};
        refused(bert, {"tokenizer_config.json has strip_accents true"});
        bert.tokenizer_config = {{"tokenize_chinese_chars", false}};
        refused(bert, {"tokenize_chinese_chars false"});
        bert.tokenizer_config = nlohmann::json::array();
        refused(bert, {"tokenizer_config.json is damaged"});
    }

    TEST_CASE("pretrained: a vocabulary may end its lines as Windows does, and need not end the last") {
        Shell shell;
        SmallBert bert;
        const std::string directory = bert.write(shell, "bert");
        auto reads = [&](const std::string& begin, const std::string& between, const std::string& end) {
            std::string text = begin + bert.tokens[0];
            for (size_t i = 1; i < bert.tokens.size(); ++i) text += between + bert.tokens[i];
            shell.write("bert/vocab.txt", text + end);
            CHECK(load_pretrained(directory).tokenizer->tokens == bert.tokens);
        };
        reads("", "\n", "\n");
        reads("", "\n", "");
        reads("", "\r\n", "\r\n");
        reads("\xEF\xBB\xBF", "\r\n", "");
    }

    TEST_CASE("pretrained: a vocabulary that is none") {
        SmallBert twice, no_mask, bytes, empty;
        twice.tokens[7] = "the";
        refused(twice, {"vocab.txt has the token the twice, in its lines 6 and 8"});
        no_mask.tokens[4] = "mask";
        refused(no_mask, {"vocab.txt has no [MASK]"});
        bytes.tokens[20] = "\xFF";
        refused(bytes, {"vocab.txt is not UTF-8"});
        empty.tokens.clear();
        refused(empty, {"vocab.txt has no [PAD]"});
    }

    TEST_CASE("pretrained: a file that is missing, a directory, empty or cut off is named") {
        Shell shell;
        const std::string directory = SmallBert().write(shell, "bert");
        auto refuses_it = [&](const std::string& words) { check_error([&] { load_pretrained(directory); }, {words}); };
        for (const std::string name : {"config.json", "vocab.txt", "model.safetensors"}) {
            const std::string sound = shell.read("bert/" + name);
            std::filesystem::remove(shell.path("bert/" + name));
            refuses_it("there is no " + name + " in " + directory);
            std::filesystem::create_symlink(name, shell.path("bert/" + name));  // a link to itself
            refuses_it("cannot read " + directory + "/" + name + ": Too many levels");
            std::filesystem::remove(shell.path("bert/" + name));
            std::filesystem::create_directory(shell.path("bert/" + name));
            refuses_it(name + " is a directory");
            std::filesystem::remove(shell.path("bert/" + name));
            for (size_t length : {size_t{0}, size_t{1}, size_t{7}, sound.size() / 2, sound.size() - 8}) {
                shell.write("bert/" + name, sound.substr(0, length));
                refuses_it(directory);
            }
            shell.write("bert/" + name, sound);
            load_pretrained(directory);
        }
        check_error([&] { load_pretrained(directory + "/nowhere"); }, {"there is no config.json in"});
        check_error([&] { load_pretrained(directory + "/config.json"); }, {"config.json"});
        check_error([&] { load_pretrained(""); }, {"there is no config.json"});
    }
}
