// What a model's file says beside its tensors: options, vocabulary, the text's hash; and what the programs make of it.
#include "common/train/saved_model.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "common/text/utf8.h"
#include "tests/check.h"
#include "tests/damaged.h"
#include "tests/shell.h"

using namespace babygpt;

namespace {

const Options two{.stage = "02_position", .n_embd = 64};  // as stage 02 has it

struct Table : Module {
    Tensor weight = random_tensor({4, 9}, 1);
    Table() { add("weight", weight); }
};

// The bytes of a model that has been saved whole, with one piece of its metadata changed.
std::string saved_model(const std::string& key = {}, const std::string& value = {}) {
    Options o{.stage = "02_position", .batch_size = 2, .block_size = 3, .n_embd = 4, .threads = 1};
    Corpus corpus = make_corpus("text", "hello hello hello hello");
    Checkpoint checkpoint = describe_model(o, corpus, Table(), 12, 1.5, 1.25);
    if (!key.empty()) checkpoint.metadata[key] = value;
    if (!key.empty() && value.empty()) checkpoint.metadata.erase(key);
    return to_safetensors(checkpoint);
}

}  // namespace

TEST_SUITE("saved model") {
    TEST_CASE("parse_model: a saved model brings its options, its vocabulary and its text's hash") {
        SavedModel saved = parse_model(saved_model(), "model.file", two);
        CHECK(saved.options.n_embd == 4);
        CHECK(saved.options.block_size == 3);
        CHECK(saved.vocabulary.characters == U" ehlo");
        CHECK(saved.corpus_hash == make_corpus("text", "hello hello hello hello").hash);
        CHECK(saved.checkpoint.tensors.size() == 1);
        check_error([] { parse_model(saved_model(), "model.file", {.stage = "03_head"}); },
                    {"model.file", "02_position"});
    }

    TEST_CASE("parse_model: metadata that no run wrote is refused") {
        auto refused = [](const std::string& key, const std::string& value, const std::string& word) {
            CAPTURE(key);
            CAPTURE(value);
            check_error([&] { parse_model(saved_model(key, value), "model.file", two); }, {"model.file", word});
        };
        for (const char* key : {"stage", "options", "vocabulary", "corpus_hash"})
            refused(key, "", key);  // it is missing
        for (const char* options : {"x", "[]", "null", "{\"stage\":7}", "{\"stage\":\"03_head\"}"})
            refused("options", options, "options");
        std::string good = options_to_json({.stage = "02_position", .n_embd = 4, .threads = 1});
        auto with = [&](const std::string& what, const std::string& instead) {
            REQUIRE(good.find(what) != good.npos);
            return std::string(good).replace(good.find(what), what.size(), instead);
        };
        refused("options", with("\"n_embd\":4", "\"n_embd\":-4"), "options");
        refused("options", with("\"n_embd\":4", "\"n_embd\":1000000"), "options");
        refused("options", with("\"n_embd\":4", "\"n_embd\":\"4\""), "options");
        refused("options", with("\"n_layer\":0", "\"n_layer\":1000000"), "options");
        refused("options", with("\"block_size\":32", "\"block_size\":2000000000"), "options");
        refused("options", with("\"block_size\":32", "\"block_size\":-1"), "options");
        refused("options", with("\"dropout\":0.0", "\"dropout\":1.0"), "options");
        std::string many;
        for (char32_t c = 0x4E00; c < 0x4F00; ++c) many += encode_utf8({&c, 1});
        refused("vocabulary", many, "vocabulary");
        for (const char* vocabulary : {"ba", "aab", "ab\na",
                                       "b\xC3\xA9"
                                       "a"})
            refused("vocabulary", vocabulary, "in order");
        for (const char* hash : {"x", "-1", "1x", " 1", "18446744073709551616"}) refused("corpus_hash", hash, "hash");
    }

    TEST_CASE("parse_model: text that no message can hold is cut short and stays on one line") {
        for (const std::string& text : {std::string(5'000'000, 'x'), std::string("a\nb\0c\x1b[31m", 10)}) {
            const Checkpoint of_tensor{{}, {{text, Tensor({1}, {1})}}};
            std::vector<Module::Parameter> none;
            for (const std::function<void()>& f : std::initializer_list<std::function<void()>>{
                     [&] { parse_model(saved_model("stage", text), "model.file", two); },
                     [&] { parse_model(saved_model("options", text), "model.file", two); },
                     [&] {
                         parse_model(saved_model("options", "{\"data\":7,\"seed\":\"" + text + "\"}"), "model.file",
                                     two);
                     },
                     [&] { parse_model(saved_model("vocabulary", text), "model.file", two); },
                     [&] { parse_model(saved_model("corpus_hash", text), "model.file", two); },
                     [&] { restore(none, of_tensor, "", "model.file"); },
                     [&] { from_safetensors(to_safetensors(of_tensor) + "x", "model.file"); },
                     [&] { from_safetensors(file("{\"" + std::string(5'000'000, 'x') + "\":7}"), "model.file"); },
                     [&] { from_safetensors(file("{\"a\\n\\u0000\":7}"), "model.file"); },
                     [&] {
                         from_safetensors(file("{\"a\":{\"dtype\":\"" + dtype + "\",\"shape\":[\"" +
                                               std::string(5'000'000, 'x') + "\"],\"data_offsets\":[0,8]}}"),
                                          "model.file");
                     },
                 }) {
                std::string message;
                try {
                    f();
                } catch (const Error& error) {
                    message = error.what();
                }
                CHECK(message.starts_with("model.file"));
                CHECK(message.size() < 300);
                CHECK(std::ranges::none_of(message, [](char c) { return c >= 0 && c < ' '; }));
            }
        }
    }

    TEST_CASE("parse_model: metadata that is no text is refused, and text that nobody reads may be any") {
        for (const char* key : {"stage", "options", "vocabulary", "corpus", "corpus_hash", "step", "train_loss"})
            for (const char* value : {"7", "null", "true", "[]", "{}", "[\"x\"]", "\"\xFF\"", "\"\\ud800\""})
                check_damaged(file(str("{\"__metadata__\":{\"", key, "\":", value, "}}")), {"damaged"});
        for (const char* key : {"corpus", "step", "train_loss", "val_loss", "anything"})
            for (const std::string& value : {std::string(100'000, 'x'), std::string("\0\n", 2), std::string("nan")})
                parse_model(saved_model(key, value), "model.file", two);
    }

    TEST_CASE("parse_model: a vocabulary may begin with the character that is a byte order mark elsewhere") {
        std::string text;
        for (int i = 0; i < 20; ++i) text += "\xF0\x9F\x98\x80\xEF\xBB\xBF\xF0\x9F\x98\x81";
        Corpus corpus = make_corpus("text", text);
        REQUIRE(corpus.vocabulary.characters == U"\uFEFF\U0001F600\U0001F601");
        Options o{.stage = "02_position", .block_size = 3, .n_embd = 4};
        Checkpoint checkpoint = describe_model(o, corpus, Table(), 1, 1, 1);
        SavedModel saved = parse_model(to_safetensors(checkpoint), "model.file", two);
        CHECK(saved.vocabulary.characters == corpus.vocabulary.characters);
    }

    TEST_CASE("parse_model: a saved model without an option that came later is as the stage has it") {
        auto json = nlohmann::json::parse(options_to_json({.stage = "02_position", .block_size = 3, .n_embd = 4}));
        json.erase("beta1"), json.erase("beta2");
        CHECK(parse_model(saved_model("options", json.dump()), "model.file", two).options.beta2 == 0.99);
        json["rotary"] = 1;
        check_error([&] { parse_model(saved_model("options", json.dump()), "model.file", two); },
                    {"model.file", "rotary", "does not know"});
    }

    TEST_CASE("parse_model: sizes that the tensors cannot fill are refused, by the tables that such a model has") {
        struct Numbers : Module {
            explicit Numbers(int count) { add("all", Tensor::parameter({count})); }
        };
        Corpus corpus = make_corpus("text", "hello hello hello hello");  // 5 characters
        Options o{.stage = "12_relative", .block_size = 1024, .n_embd = 16, .n_head = 4, .n_layer = 1};
        auto load = [&](const std::string& positions, Task task, int numbers) {
            o.positions = positions, o.task = task;
            parse_model(to_safetensors(describe_model(o, corpus, Numbers(numbers), 0, 0, 0)), "model.file", o);
        };
        const int characters = 5 * 16, places = 1024 * 16, distances = 2047 * 4;
        for (const auto& [positions, task, table] :
             {std::tuple("relative_key", Task::write, distances), std::tuple("absolute", Task::write, places),
              std::tuple("relative_key", Task::fill, places)}) {
            CAPTURE(positions);
            CHECK_NOTHROW(load(positions, task, characters + table));
            check_error([&] { load(positions, task, characters + table - 1); }, {"model.file", "do not fit"});
        }
    }

    TEST_CASE("a model that knows distances only is loaded, however long its block" * with_programs()) {
        Shell shell;
        const std::string line = "12_relative --n-embd 16 --n-head 4 --n-layer 1 --block-size 1024 --batch-size 1 ";
        works(shell, line + "--eval-batches 1 --steps 0 --tokens 5 --out run");
        works(shell, "12_relative sample --model run --tokens 5");
        works(shell, "12_relative --resume --out run --steps 1");
    }

    TEST_CASE("parse_model: cut off or with bits flipped, a saved model loads or is damaged") {
        std::string bytes = saved_model();
        for (size_t i = 0; i < bytes.size(); i += 3) {
            check_error([&] { parse_model(bytes.substr(0, i), "model.file", two); }, {"model.file"});
            std::string flipped = bytes;
            flipped[i] = char(flipped[i] ^ (1 << i % 8));
            try {
                parse_model(flipped, "model.file", two);
            } catch (const Error&) {
            }
        }
    }

    TEST_CASE("a sound model whose options are not its own is refused by every program that loads it" *
              with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("10_gpt", 1) + " --n-embd 8 --n-head 2 --n-layer 2 --out run");
        const std::string sound = shell.read("run/model.safetensors");
        works(shell, "10_gpt sample --model run --tokens 5; 11_kvcache sample --model run --tokens 5");
        auto refused = [&](const std::string& what, const std::string& instead, const std::string& words) {
            std::string option = "\\\"" + what, bytes = sound;  // quotes are escaped within the metadata
            size_t at = bytes.find(option), comma = bytes.find(",", at);
            REQUIRE(at != bytes.npos);
            std::string changed = "\\\"" + instead;
            bytes.replace(at, comma - at, changed);
            uint64_t length;
            std::memcpy(&length, bytes.data(), 8);
            length += changed.size() - (comma - at);
            std::memcpy(bytes.data(), &length, 8);
            shell.write("run/model.safetensors", bytes);
            for (const char* program : {"10_gpt sample", "11_kvcache sample", "11_kvcache"})
                refuses(shell, std::string(program) + " --model run --tokens 5", words);
        };
        auto number = [&](const std::string& name, const std::string& value, const std::string& words) {
            CAPTURE(name);
            refused(name + "\\\":", name + "\\\":" + value, words);
        };
        number("n_head", "0", "options have n_head 0, not a whole number from 1 to 1000000");
        number("n_head", "3", "n_embd 8, not a multiple of n_head 3");
        number("n_head", "-2", "options have n_head -2, not");
        number("n_head", "1e1", "options have n_head 10.0, not");
        number("n_layer", "0", "options have n_layer 0, not a whole number from 1 to 1000");
        number("n_layer", "1",
               "has a tensor blocks.1.attention.key.weight that a model of its options has no place for");
        number("n_layer", "3", "has no tensor blocks.2");
        number("n_layer", "1000", "do not fit");
        number("n_embd", "0", "options have n_embd 0");
        number("n_embd", "4", "token_embedding.weight is ");
        number("block_size", "0", "options have block_size 0");
        number("block_size", "4", "position_embedding.weight is (8,8), the model's is (4,8)");
        number("block_size", "9", "position_embedding.weight is (8,8), the model's is (9,8)");
        number("block_size", "1000000", "do not fit its tensors");
        number("dropout", "1.5", "options have dropout 1.5, not a number from 0 to 0.99");
        number("threads", "1000000000", "options have threads 1000000000, not");
        number("learning_rate", "\\\"fast\\\"", "options have learning_rate \"fast\", not a number");
        refused("clip\\\":", "rotary\\\":1", "has the option rotary, which this version does not know");
    }

    TEST_CASE("a model needs nothing beside it: a text that cannot be looked for is not missed" * with_programs()) {
        Shell shell;
        works(shell, "mkdir ../texts && corpus write tales --bytes 4000 > ../texts/text");
        works(shell, "02_position --data ../texts/text --block-size 8 --steps 1 --eval-batches 1 --tokens 5 --out run");
        works(shell, "rm -r ../texts; ln -s texts ../texts");  // a link to itself
        works(shell, "02_position sample --model run --tokens 5");
        refuses(shell, "02_position sample --model ../texts",
                "cannot read ../texts/model.safetensors: Too many levels");
        refuses(shell, "02_position sample --model " + std::string(5000, 'x'), ": File name too long");
        refuses(shell, "11_kvcache --model ../texts", "cannot read ../texts/model.safetensors: Too many levels");
        refuses(shell, "02_position --resume --out ../texts",
                "cannot read ../texts/resume.safetensors: Too many levels");
    }
}
