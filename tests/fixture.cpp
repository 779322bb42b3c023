#include "tests/fixture.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace babygpt {

Fixture::Fixture(const std::string& name) {
    std::ifstream file("tests/fixtures/" + name + ".safetensors", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    REQUIRE(bytes.size() > 8);
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    nlohmann::json header = nlohmann::json::parse(bytes.substr(8, length));
    for (const auto& [its_name, entry] : header.items()) {
        if (its_name == "__metadata__") continue;
        size_t first = entry.at("data_offsets")[0], last = entry.at("data_offsets")[1];
        entries[its_name] = {entry.at("dtype"), entry.at("shape").get<Shape>(), 8 + length + first, 8 + length + last};
    }
}

template <class From, class To>
std::vector<To> Fixture::numbers(const std::string& name, const std::string& dtype) const {
    const Entry& entry = entries.at(name);
    REQUIRE(entry.dtype == dtype);
    std::vector<From> read((entry.last - entry.first) / sizeof(From));
    std::memcpy(read.data(), bytes.data() + entry.first, entry.last - entry.first);
    return {read.begin(), read.end()};
}

Tensor Fixture::constant(const std::string& name) const { return {shape(name), numbers<float, real>(name, "F32")}; }
std::vector<int> Fixture::integers(const std::string& name) const { return numbers<int64_t, int>(name, "I64"); }

Tensor Fixture::parameter(const std::string& name) const {
    Tensor tensor = Tensor::parameter(shape(name));
    std::ranges::copy(numbers<float, real>(name, "F32"), tensor.values().begin());
    return tensor;
}

Mask Fixture::mask(const std::string& name) const {
    std::vector<int> values = integers(name);
    return {shape(name), {values.begin(), values.end()}};
}

void check_answer(const Tensor& y, const Tensor& expected, double tolerance, double least) {
    CHECK(to_string(y.shape()) == to_string(expected.shape()));
    CHECK(difference(y.values(), expected.values(), least) <= tolerance);
}

}  // namespace babygpt
