// Models on disk: what was saved comes back, and a damaged file is an error with its name, never anything else.
#include "common/train/checkpoint.h"

#include <cstring>

#include "tests/check.h"
#include "tests/damaged.h"

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
}
