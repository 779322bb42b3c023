// Reads a file of tests/fixtures: reference numbers in safetensors format, F32 as tensors and I64 as integers, whatever
// type the core computes in.
#pragma once
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/check.h"

namespace babygpt {

class Fixture {
  public:
    explicit Fixture(const std::string& name) {
        std::ifstream file("tests/fixtures/" + name + ".safetensors", std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        REQUIRE(bytes.size() > 8);
        uint64_t length = 0;
        std::memcpy(&length, bytes.data(), 8);
        header = nlohmann::json::parse(bytes.substr(8, length));
        start = 8 + length;
    }

    Tensor constant(const std::string& name) const { return {shape(name), numbers<float, real>(name, "F32")}; }
    Tensor parameter(const std::string& name) const {
        Tensor tensor = Tensor::parameter(shape(name));
        std::ranges::copy(numbers<float, real>(name, "F32"), tensor.values().begin());
        return tensor;
    }
    std::vector<int> integers(const std::string& name) const { return numbers<int64_t, int>(name, "I64"); }
    Mask mask(const std::string& name) const {  // 1 is true
        std::vector<int> values = integers(name);
        return {shape(name), {values.begin(), values.end()}};
    }
    Shape shape(const std::string& name) const { return header.at(name).at("shape").get<Shape>(); }

  private:
    template <class From, class To>
    std::vector<To> numbers(const std::string& name, const std::string& dtype) const {
        const nlohmann::json& entry = header.at(name);
        REQUIRE(entry.at("dtype") == dtype);
        size_t first = entry.at("data_offsets")[0], last = entry.at("data_offsets")[1];
        std::vector<From> read((last - first) / sizeof(From));
        std::memcpy(read.data(), bytes.data() + start + first, last - first);
        return {read.begin(), read.end()};
    }

    std::string bytes;
    nlohmann::json header;
    size_t start;
};

inline void check_answer(const Tensor& y, const Tensor& expected, double tolerance = 1e-5) {
    CHECK(to_string(y.shape()) == to_string(expected.shape()));
    REQUIRE(y.count() == expected.count());
    double worst = 0, largest = 1;  // a gradient that is 0 but for rounding is held against 1
    for (size_t i = 0; i < y.count(); ++i) {
        double gap = std::abs(double(y.values()[i]) - double(expected.values()[i]));
        worst = std::isnan(gap) ? INFINITY : std::max(worst, gap);
        largest = std::max(largest, std::abs(double(expected.values()[i])));
    }
    CHECK(worst <= tolerance * largest);
}

}  // namespace babygpt
