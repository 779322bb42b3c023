// What the checks of the exercises share. A check includes the learner's file and defines check(), which calls the
// learner's code and stops at the first thing that is wrong. main is in check.cpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/options.h"
#include "common/nn/nn.h"
#include "common/nn/optim.h"
#include "common/nn/schedule.h"
#include "common/text/corpus.h"
#include "docs/exercises/parts.h"

std::string check();  // every check defines it; returns in one sentence what is right

namespace exercise {

using namespace babygpt;

// What is compared: a Tensor, a single number, a row of numbers or a table.
struct Numbers {
    Shape shape;
    std::vector<double> values;

    Numbers(const Tensor& tensor);
    Numbers(double number)
        : values{number} {}
    template <class T>
    Numbers(const std::vector<T>& row)
        : shape{int(row.size())},
          values(row.begin(), row.end()) {}
    template <class T>
    Numbers(const std::vector<std::vector<T>>& table)
        : shape{int(table.size()), int(table.empty() ? 0 : table[0].size())} {
        for (const auto& row : table) values.insert(values.end(), row.begin(), row.end());
    }
    Numbers(const Shape& as, std::span<const real> numbers)
        : shape(as),
          values(numbers.begin(), numbers.end()) {}
};

// A wrong result that can be recognised, and what it means.
struct Known {
    std::string means;
    Numbers numbers;
};

[[noreturn]] void wrong(const std::string& what, const std::string& hint);
void expect(bool right, const std::string& what, const std::string& hint);

// Stops at the first number that differs and names it: "scores[0, 1, 2] is 0.5, expected -inf". The hint is that of the
// known wrong result, if it is one.
void expect_same(const std::string& name, const Numbers& found, const Numbers& expected, const std::string& hint,
                 const std::vector<Known>& known = {}, double tolerance = 1e-4);
bool alike(const Numbers& found, const Numbers& expected, double tolerance = 1e-4);

// The parameters' names and shapes: what is not registered is not trained.
using Registered = std::vector<std::pair<std::string, Shape>>;
Registered registered(const std::string& prefix, const Module& part);  // as add(prefix, part) would register it
void expect_parameters(const Module& module, const std::vector<Registered>& expected);
// Sends a gradient back from y: every parameter has to get some.
void expect_gradients(const Module& module, const Tensor& y, const std::string& hint);
// f takes x (B, T, C) and its result at a place may depend on that place and those before it, not on later ones.
void expect_causal(const std::function<Tensor(const Tensor&)>& f, const Shape& shape, const std::string& hint);

Tensor random_tensor(const Shape& shape, uint64_t seed, double deviation = 1);     // a constant
Tensor random_parameter(const Shape& shape, uint64_t seed, double deviation = 1);  // wants a gradient
std::vector<real> random_numbers(size_t n, uint64_t seed);
std::vector<int> random_ids(size_t n, int V, uint64_t seed);
void fill(Tensor x, real with);
std::string list(const std::vector<int>& numbers);  // "{1, 3}"

template <class F>
std::vector<double> numbers(size_t n, F f) {  // f(0), f(1), ..., f(n - 1)
    std::vector<double> result(n);
    for (size_t i = 0; i < n; ++i) result[i] = double(f(i));
    return result;
}

// What the core finds: the gradients of `inputs` when dy flows back into the result of f.
std::vector<Tensor> core_gradients(const std::function<Tensor()>& f, const std::vector<Tensor>& inputs,
                                   const Tensor& dy);

// A head's sums as stage 03 has them, from queries, keys and values (B, T, H); other divisors and masks are mistakes.
Tensor head_sums(const Tensor& q, const Tensor& k, const Tensor& v, double divisor, const Mask& mask);
Mask no_mask(int T);

}  // namespace exercise
