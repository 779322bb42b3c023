#include "common/nn/layers.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "common/nn/init.h"
#include "common/tensor/node.h"

namespace babygpt {

size_t Module::parameter_count() const {
    size_t count = 0;
    for (const Parameter& parameter : parameters) count += parameter.tensor.count();
    return count;
}

void Module::add(const std::string& name, const Tensor& parameter) {
    bool tied = std::ranges::any_of(parameters, [&](const Parameter& p) { return p.tensor.node == parameter.node; });
    if (!tied) parameters.push_back({name, parameter});
}

void Module::add(const std::string& name, const Module& part) {
    for (const Parameter& parameter : part.parameters) add(name + "." + parameter.name, parameter.tensor);
}

Linear::Linear(int in, int out, Rng& rng, Bias has_bias)
    : weight(Tensor::parameter({out, in})) {
    fill_uniform(weight, 1 / std::sqrt(in), rng);
    add("weight", weight);
    if (has_bias == no_bias) return;
    bias = Tensor::parameter({out});
    fill_uniform(bias, 1 / std::sqrt(in), rng);
    add("bias", bias);
}

Embedding::Embedding(int count, int n_embd, Rng& rng)
    : weight(Tensor::parameter({count, n_embd})) {
    fill_normal(weight, 1, rng);
    add("weight", weight);
}

LayerNorm::LayerNorm(int n_embd, double added)
    : weight(Tensor::parameter({n_embd})),
      bias(Tensor::parameter({n_embd})),
      epsilon(added) {
    for (real& v : weight.values()) v = 1;
    add("weight", weight);
    add("bias", bias);
}

namespace {

Tensor gelu_new(Tensor x) {  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / std::numbers::pi);
    return x * (tanh(inner) + Tensor({1}, {1})) * 0.5;
}

}  // namespace

Tensor (*activation(const std::string& name))(Tensor x) {
    if (name == "gelu") return gelu;
    if (name == "gelu_new") return gelu_new;
    fail("there is no activation ", name, " here; there is gelu and gelu_new");
}

Tokens positions(int T, int first) {
    Tokens result(1, T);
    std::iota(result.ids.begin(), result.ids.end(), first);
    return result;
}

}  // namespace babygpt
