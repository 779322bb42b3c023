// Models on disk: what was saved comes back, and a damaged file is an error with its name, never anything else.
#include "common/train/checkpoint.h"

#include <bit>
#include <cstring>
#include <filesystem>

#include "tests/check.h"
#include "tests/damaged.h"
#include "tests/shell.h"

using namespace babygpt;

namespace {

Checkpoint sample() {
    Tensor a({2, 3}, {1, 2, 3, 4, 5, 6}), b({1}, {real(-0.5)}), c({2, 1, 2}, {7, 8, 9, 10});
    return {{{"stage", "10_gpt"}, {"text", "line\n\"quoted\" \xE4\xBD\xA0"}}, {{"zeta", a}, {"b.weight", b}, {"c", c}}};
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

// The same of another type, whose offsets are counted in bytes.
std::string typed(const std::string& name, const std::string& type, const std::string& shape, size_t begin,
                  size_t end) {
    return str("\"", name, "\":{\"dtype\":\"", type, "\",\"shape\":", shape, ",\"data_offsets\":[", begin, ",", end,
               "]}");
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

// One tensor of each type, with integers between them, as other programs may write them.
std::string mixed() {
    return file("{\"__metadata__\":{\"format\":\"pt\"}," + typed("a", "F32", "[2]", 0, 8) + "," +
                typed("ids", "I64", "[1,2]", 8, 24) + "," + typed("b", "F16", "[3]", 24, 30) + "," +
                typed("flag", "BOOL", "[]", 30, 31) + "," + typed("c", "F64", "[2,1]", 31, 47) + "," +
                typed("d", "BF16", "[1]", 47, 49) + "}") +
           bytes_of<float>({1.5, -2}) + bytes_of<int64_t>({7, 8}) + bytes_of<uint16_t>({0x3C00, 0xC000, 0x3555}) +
           "\1" + bytes_of<double>({0.1, 1e10}) + bytes_of<uint16_t>({0xBF80});
}

bool loads_or_fails(const std::string& bytes,
                    Types types = Types::ours) {  // true if it loads; what is thrown is an Error
    try {
        from_safetensors(bytes, "model.file", types);
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

    TEST_CASE("checkpoint: numbers of other programs are converted, and integers left out") {
        Checkpoint checkpoint = from_safetensors(mixed(), "model.file", Types::any);
        CHECK(checkpoint.metadata.at("format") == "pt");
        REQUIRE(checkpoint.tensors.size() == 4);  // at odd places in memory, too
        check_values(*find(checkpoint, "a"), {2}, {1.5, -2}, 0);
        check_values(*find(checkpoint, "b"), {3}, {1, -2, 0.333251953125}, 0);
        check_values(*find(checkpoint, "c"), {2, 1}, {double(real(0.1)), 1e10}, 0);
        check_values(*find(checkpoint, "d"), {1}, {-1}, 0);
        check_damaged(mixed(), {"is of type", "not " + dtype});
    }

    TEST_CASE("checkpoint: all 65536 numbers of half precision") {
        std::vector<uint16_t> all(65536);
        for (size_t i = 0; i < all.size(); ++i) all[i] = uint16_t(i);
        std::string bytes = file("{" + typed("a", "F16", "[65536]", 0, 131072) + "}") + bytes_of(all);
        Checkpoint checkpoint = from_safetensors(bytes, "model.file", Types::any);
        int wrong = 0;
        for (int i = 0; i < 65536; ++i) {
            int exponent = i >> 10 & 31, fraction = i & 1023;
            double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
            if (exponent == 31) size = fraction ? NAN : INFINITY;
            double number = double(checkpoint.tensors[0].tensor.values()[size_t(i)]);
            bool same = std::isnan(size) ? std::isnan(number) : number == std::copysign(size, i >> 15 ? -1 : 1);
            wrong += !same || std::signbit(number) != bool(i >> 15);
        }
        CHECK(wrong == 0);
    }

    TEST_CASE("checkpoint: all 65536 numbers of BF16 are the first halves of floats") {
        std::vector<uint16_t> all(65536);
        for (size_t i = 0; i < all.size(); ++i) all[i] = uint16_t(i);
        std::string bytes = file("{" + typed("a", "BF16", "[65536]", 0, 131072) + "}") + bytes_of(all);
        Checkpoint checkpoint = from_safetensors(bytes, "model.file", Types::any);
        int wrong = 0;
        for (uint32_t i = 0; i < 65536; ++i) {
            float expected = std::bit_cast<float>(i << 16), number = float(checkpoint.tensors[0].tensor.values()[i]);
            bool same = std::isnan(expected) ? std::isnan(number) : number == expected;
            wrong += !same || std::signbit(number) != std::signbit(expected);
        }
        CHECK(wrong == 0);
    }

    TEST_CASE("checkpoint: a type that nobody here can read is named") {
        for (const char* type : {"F8_E4M3", "f16", "I128", ""}) {
            std::string bytes = file("{" + typed("a", type, "[1]", 0, 1) + "}") + "x";
            check_error([&] { from_safetensors(bytes, "model.file", Types::any); },
                        {"model.file", "a is of type", type, "not F32, F64, F16 or BF16"});
        }
    }

    TEST_CASE("checkpoint: what is left out must lie in its place too, and fit its type") {
        auto with = [](const std::string& entry, size_t numbers) {
            return file("{" + entry + "}") + std::string(numbers, '\1');
        };
        CHECK(loads_or_fails(with(typed("a", "I64", "[2]", 0, 16), 16), Types::any));
        CHECK(!loads_or_fails(with(typed("a", "I64", "[2]", 0, 16), 15), Types::any));
        CHECK(!loads_or_fails(with(typed("a", "I64", "[2]", 0, 16), 17), Types::any));
        CHECK(!loads_or_fails(with(typed("a", "I32", "[2]", 0, 16), 16), Types::any));
        CHECK(!loads_or_fails(with(typed("a", "F16", "[2]", 0, 8), 8), Types::any));
        CHECK(!loads_or_fails(with(typed("a", "I64", "[2]", 8, 24), 24), Types::any));
        CHECK(!loads_or_fails(with(typed("a", "I64", "[2305843009213693952]", 0, 0), 0), Types::any));
    }

    TEST_CASE("checkpoint: of several types, cut off or with any bit flipped it loads or is damaged") {
        const std::string bytes = mixed();
        for (size_t i = 0; i < bytes.size(); ++i) {
            CHECK(!loads_or_fails(bytes.substr(0, i), Types::any));
            for (int bit = 0; bit < 8; ++bit) {
                std::string flipped = bytes;
                flipped[i] = char(flipped[i] ^ (1 << bit));
                loads_or_fails(flipped, Types::any);
            }
        }
    }

    TEST_CASE("checkpoint: a file is read where it lies: whole, cut off at any length, or none") {
        Shell shell;
        const std::string bytes = to_safetensors(sample()), file = shell.path("model.file");
        shell.write("model.file", bytes);
        Checkpoint loaded = load_safetensors(file);
        CHECK(loaded.metadata == sample().metadata);
        CHECK(to_safetensors(loaded) == bytes);
        for (size_t length = 0; length < bytes.size(); length += length < 16 ? 1 : 37) {
            shell.write("model.file", bytes.substr(0, length));
            check_error([&] { load_safetensors(file); }, {file, "damaged"});
        }
        auto cannot_load = [&](const std::string& name, const std::string& words) {
            check_error([&] { load_safetensors(shell.path(name)); }, {name, words});
        };
        cannot_load("missing", "No such file");
        cannot_load("", "is a directory; give a file");
        cannot_load("model.file/x", "Not a directory");
        works(shell, "mkfifo pipe; ln -s loop loop");
        cannot_load("pipe", "is not a file on a disk");  // and nobody waits for a writer
        cannot_load("loop", "cannot read");
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
}
