// Reads a file of tests/fixtures: reference numbers in safetensors format, F32 as tensors and I64 as integers, whatever
// type the core computes in.
#pragma once
#include <map>

#include "tests/check.h"

namespace babygpt {

class Fixture {
  public:
    explicit Fixture(const std::string& name);

    Tensor constant(const std::string& name) const;
    Tensor parameter(const std::string& name) const;
    std::vector<int> integers(const std::string& name) const;
    Mask mask(const std::string& name) const;  // 1 is true
    Shape shape(const std::string& name) const { return entries.at(name).shape; }

  private:
    struct Entry {
        std::string dtype;
        Shape shape;
        size_t first, last;  // where its bytes lie
    };
    template <class From, class To>
    std::vector<To> numbers(const std::string& name, const std::string& dtype) const;

    std::string bytes;
    std::map<std::string, Entry> entries;
};

// Out of the largest number, or of `least` where all are smaller: for a gradient that is 0 but for rounding.
void check_answer(const Tensor& y, const Tensor& expected, double tolerance = 1e-5, double least = 1e-300);

}  // namespace babygpt
