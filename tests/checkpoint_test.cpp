// Models on disk: what was saved comes back, and a damaged file is an error with its name, never anything else.
#include "common/train/checkpoint.h"

#include <cstring>

#include "common/text/utf8.h"
#include "tests/check.h"
#include "tests/shell.h"

using namespace babygpt;

namespace {

const std::string dtype = in_double ? "F64" : "F32";

Checkpoint sample() {
    Tensor a({2, 3}, {1, 2, 3, 4, 5, 6}), b({1}, {real(-0.5)}), c({2, 1, 2}, {7, 8, 9, 10});
    return {{{"stage", "10_gpt"}, {"text", "line\n\"quoted\" \xE4\xBD\xA0"}}, {{"zeta", a}, {"b.weight", b}, {"c", c}}};
}

// A file of this header and so many bytes of numbers.
std::string file(std::string_view header, size_t numbers = 0) {
    uint64_t length = header.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes.append(header).append(numbers * sizeof(real), '\1');
}

std::string file_of_length(uint64_t length, size_t rest) {
    std::string bytes(8 + rest, ' ');
    std::memcpy(bytes.data(), &length, 8);
    return bytes;
}

// {"a": a tensor of this shape from begin to end, counted in numbers}
std::string tensor(const std::string& name, const std::string& shape, size_t begin, size_t end) {
    return str("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":", shape, ",\"data_offsets\":[",
               begin * sizeof(real), ",", end * sizeof(real), "]}");
}

void check_damaged(const std::string& bytes, const std::vector<std::string>& words = {}) {
    std::vector<std::string> all{"model.file"};
    all.insert(all.end(), words.begin(), words.end());
    check_error([&] { from_safetensors(bytes, "model.file"); }, all);
}

bool loads_or_fails(const std::string& bytes) {  // true if it loads; anything thrown but an Error fails the test
    try {
        from_safetensors(bytes, "model.file");
        return true;
    } catch (const Error&) {
        return false;
    }
}

const Tensor* find(const Checkpoint& checkpoint, const std::string& name) {
    for (const auto& [its_name, its_tensor] : checkpoint.tensors)
        if (its_name == name) return &its_tensor;
    return nullptr;
}

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

TEST_SUITE("checkpoint") {
    TEST_CASE("checkpoint: tensors and metadata come back, bit for bit") {
        Checkpoint before = sample(), after = from_safetensors(to_safetensors(before), "model.file");
        CHECK(after.metadata == before.metadata);
        CHECK(after.tensors.size() == 3);
        for (const auto& [name, its_tensor] : before.tensors) {
            const Tensor* found = find(after, name);
            REQUIRE(found);
            CHECK(to_string(found->shape()) == to_string(its_tensor.shape()));
            CHECK(same_bytes(found->values(), its_tensor.values()));
        }
    }

    TEST_CASE("checkpoint: infinities, NaN, the smallest numbers and minus zero come back") {
        Checkpoint checkpoint{{}, {{"odd", Tensor({5}, {INFINITY, -INFINITY, NAN, real(1e-310), real(-0.0)})}}};
        Checkpoint after = from_safetensors(to_safetensors(checkpoint), "model.file");
        auto a = checkpoint.tensors[0].tensor.values(), b = after.tensors[0].tensor.values();
        CHECK(std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
    }

    TEST_CASE("checkpoint: the numbers begin at a multiple of 64 bytes, after a header of the length it names") {
        std::string bytes = to_safetensors(sample());
        uint64_t length;
        std::memcpy(&length, bytes.data(), 8);
        CHECK((8 + length) % 64 == 0);
        CHECK(bytes[8] == '{');
        CHECK(bytes.size() == 8 + length + 11 * sizeof(real));
        real first;
        std::memcpy(&first, bytes.data() + 8 + length, sizeof first);
        CHECK(first == 1);
    }

    TEST_CASE("checkpoint: no tensors and no metadata are a checkpoint too") {
        CHECK(from_safetensors(to_safetensors({}), "model.file").tensors.empty());
        CHECK(from_safetensors(file("{}"), "model.file").metadata.empty());
        Checkpoint one = from_safetensors(file("{" + tensor("a", "[2]", 0, 2) + "}", 2), "model.file");
        CHECK(one.tensors.size() == 1);
        CHECK(from_safetensors(file("{" + tensor("a", "[]", 0, 1) + "}", 1), "model.file").tensors[0].tensor.count() ==
              1);
    }

    TEST_CASE("checkpoint: cut off at any length it is damaged") {
        std::string bytes = to_safetensors(sample());
        for (size_t length = 0; length < bytes.size(); ++length) {
            CAPTURE(length);
            check_damaged(bytes.substr(0, length), {"damaged"});
        }
    }

    TEST_CASE("checkpoint: with any bit flipped it loads or is damaged, and nothing else happens") {
        std::string bytes = to_safetensors(sample());
        uint64_t length;
        std::memcpy(&length, bytes.data(), 8);
        for (size_t i = 0; i < bytes.size(); ++i)
            for (int bit = 0; bit < 8; ++bit) {
                std::string flipped = bytes;
                flipped[i] = char(flipped[i] ^ (1 << bit));
                bool loads = loads_or_fails(flipped);
                if (i >= 8 + length) REQUIRE(loads);  // only numbers differ
            }
    }

    TEST_CASE("checkpoint: with any byte made any other kind it loads or is damaged") {
        std::string bytes = to_safetensors(sample());
        for (size_t i = 0; i < bytes.size(); ++i)
            for (char c : std::string("\0\xFF\"{}[]:,-9e. \\u", 16)) {
                std::string changed = bytes;
                changed[i] = c;
                loads_or_fails(changed);
            }
    }

    TEST_CASE("checkpoint: a header longer than the file, or than any header") {
        for (uint64_t length : {uint64_t{101}, uint64_t{1} << 31, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 7})
            check_damaged(file_of_length(length, 100), {"damaged", str(length)});
        check_damaged(file_of_length(100'000'001, 100'000'001), {"damaged", "100000001"});
        check_damaged(file_of_length(0, 100), {"damaged"});
        check_damaged("", {"damaged", "0 bytes"});
    }

    TEST_CASE("checkpoint: a header that is no JSON object") {
        for (const char* header :
             {"", " ", "null", "[]", "7", "\"text\"", "{", "}", "{]", "{\"a\"}", "{\"a\":}", "{a:1}", "{}{}",
              "{\"a\":1,}", "{\"\xFF\":{}}", "{\"\\ud800\":{}}", "\xEF\xBB\xBF[]"})
            check_damaged(file(header), {"damaged"});
    }

    TEST_CASE("checkpoint: a header nested without end") {
        for (const char* open : {"[", "{\"a\":"}) {
            std::string deep = "{\"a\":";
            for (int i = 0; i < 100'000; ++i) deep += open;
            check_damaged(file(deep), {"damaged"});
        }
        std::string closed = "{\"a\":" + std::string(10'000, '[') + std::string(10'000, ']') + "}";
        check_damaged(file(closed), {"damaged"});
    }

    TEST_CASE("checkpoint: one name twice") {
        check_damaged(file("{" + tensor("a", "[1]", 0, 1) + "," + tensor("a", "[1]", 1, 2) + "}", 2),
                      {"damaged", "twice"});
        check_damaged(file("{\"__metadata__\":{},\"__metadata__\":{}}"), {"damaged", "twice"});
        check_damaged(file("{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"}}"), {"damaged", "twice"});
        check_damaged(file("{\"a\":{\"dtype\":\"" + dtype + "\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]}}"),
                      {"damaged", "twice"});
    }

    TEST_CASE("checkpoint: tensors that overlap, leave gaps, or lie beyond the end") {
        auto two = [](size_t begin, size_t end, size_t numbers) {
            return file("{" + tensor("a", "[2]", 0, 2) + "," + tensor("b", "[2]", begin, end) + "}", numbers);
        };
        CHECK(loads_or_fails(two(2, 4, 4)));
        check_damaged(two(1, 3, 4), {"damaged"});
        check_damaged(two(0, 2, 4), {"damaged"});
        check_damaged(two(0, 2, 2), {"damaged"});
        check_damaged(two(3, 5, 5), {"damaged", "gap"});
        check_damaged(two(2, 4, 3), {"damaged", "beyond"});
        check_damaged(two(2, 4, 5), {"damaged", "belong to no tensor"});  // bytes at the end
        check_damaged(two(2, 4, 4) + "x", {"damaged", "1 bytes"});
        check_damaged(file("{}", 1), {"damaged"});
        check_damaged(file("{" + tensor("a", "[2]", 1, 3) + "}", 3), {"damaged", "gap"});
    }

    TEST_CASE("checkpoint: offsets that are not two places in order, or overflow") {
        for (const char* offsets : {"[]",
                                    "[0]",
                                    "[0,8,8]",
                                    "[8,0]",
                                    "[-8,0]",
                                    "[0,-8]",
                                    "[0,8.5]",
                                    "[0.0,8.0]",
                                    "[\"0\",\"8\"]",
                                    "7",
                                    "null",
                                    "{}",
                                    "[0,1e3]",
                                    "[18446744073709551608,0]",
                                    "[0,18446744073709551615]",
                                    "[0,99999999999999999999]",
                                    "[18446744073709551607,18446744073709551615]",
                                    "[9223372036854775800,9223372036854775808]",
                                    "[true,8]",
                                    "[0,9]",
                                    "[1,8]"})
            check_damaged(
                file("{\"a\":{\"dtype\":\"" + dtype + "\",\"shape\":[2],\"data_offsets\":" + offsets + "}}", 2),
                {"damaged", "a"});
    }

    TEST_CASE("checkpoint: shapes that cannot be, or do not fit their numbers") {
        for (const char* shape : {"[-2]",
                                  "[2.0]",
                                  "[\"2\"]",
                                  "[null]",
                                  "[3]",
                                  "[1]",
                                  "[2,2]",
                                  "[0]",
                                  "[2,0]",
                                  "7",
                                  "{}",
                                  "null",
                                  "[[2]]",
                                  "[4294967298]",
                                  "[2147483648]",
                                  "[99999999999999999999]",
                                  "[4294967296,4294967296,4294967296]",
                                  "[2147483647,2147483647,2147483647]",
                                  "[1,1,1,1,1,1,1,1,2]",
                                  "[65536,65536,65536,65536]"})
            check_damaged(file("{" + tensor("a", shape, 0, 2) + "}", 2), {"damaged", "a"});
    }

    TEST_CASE("checkpoint: a shape whose size in bytes overflows to one that fits") {
        check_damaged(file("{" + tensor("a", "[65536,65536,65536,65536]", 0, 0) + "}"), {"damaged", "65536"});
        check_damaged(file("{" + tensor("a", "[1073741824,1073741824,16]", 0, 0) + "}"), {"damaged", "1073741824"});
    }

    TEST_CASE("checkpoint: numbers of another type, or of none") {
        for (const char* type : {"\"F16\"", "\"BF16\"", "\"I64\"", "\"f32\"", "\"\"", "7", "null", "{}"})
            check_damaged(
                file(str("{\"a\":{\"dtype\":", type, ",\"shape\":[1],\"data_offsets\":[0,", sizeof(real), "]}}"), 1),
                {"a", dtype});
        check_damaged(file(str("{\"a\":{\"dtype\":\"", in_double ? "F32" : "F64",
                               "\",\"shape\":[1],\"data_offsets\":[0,", sizeof(real), "]}}"),
                           1),
                      {"a", dtype});
        check_damaged(file(str("{\"a\":{\"shape\":[1],\"data_offsets\":[0,", sizeof(real), "]}}"), 1), {dtype});
    }

    TEST_CASE("checkpoint: a tensor that is no description of one") {
        for (const char* entry : {"7", "null", "[]", "\"text\"", "{}", "true"})
            check_damaged(file(str("{\"a\":", entry, "}")), {"damaged", "a"});
    }

    TEST_CASE("checkpoint: metadata other than strings by name") {
        for (const char* metadata : {"{\"x\":7}", "{\"x\":null}", "{\"x\":{}}", "{\"x\":[\"y\"]}", "7", "true"})
            check_damaged(file(str("{\"__metadata__\":", metadata, "}")), {"damaged", "metadata"});
        for (const char* metadata : {"\"text\"", "[]", "[\"text\"]", "null"})
            check_damaged(file(str("{\"__metadata__\":", metadata, "}")), {"damaged", "metadata"});
    }

    TEST_CASE("checkpoint: metadata that is not UTF-8, as a file's name may be, can be saved") {
        Checkpoint checkpoint = sample();
        checkpoint.metadata["corpus"] = "caf\xE9.txt";
        CHECK(from_safetensors(to_safetensors(checkpoint), "model.file").metadata.contains("corpus"));
    }

    TEST_CASE("about: a key that is missing is named, with the file") {
        CHECK(sample().about("stage", "model.file") == "10_gpt");
        check_error([] { sample().about("colour", "model.file"); }, {"model.file", "colour"});
    }

    TEST_CASE("restore: fills the parameters by name, and names what is missing or of another shape") {
        Checkpoint saved{{}, {{"model.a", Tensor({2}, {3, 4})}, {"model.b", Tensor({1}, {5})}}};
        std::vector<Module::Parameter> parameters{{"b", Tensor::parameter({1})}, {"a", Tensor::parameter({2})}};
        restore(parameters, saved, "model.", "model.file");
        check_values(parameters[0].tensor, {1}, {5});
        check_values(parameters[1].tensor, {2}, {3, 4});
        check_error([&] { restore(parameters, saved, "mean.", "model.file"); }, {"model.file", "mean.b"});
        parameters[1].tensor = Tensor::parameter({1, 2});
        check_error([&] { restore(parameters, saved, "model.", "model.file"); },
                    {"model.file", "model.a", "(2)", "(1,2)"});
    }

    TEST_CASE("restore: a tensor that is left over is named") {
        Checkpoint saved{{}, {{"model.a", Tensor({2}, {3, 4})}, {"model.b", Tensor({1}, {5})}}};
        std::vector<Module::Parameter> parameters{{"a", Tensor::parameter({2})}};
        check_error([&] { restore(parameters, saved, "model.", "model.file"); }, {"model.file", "model.b"});
    }

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
