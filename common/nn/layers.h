// Modules and the layers that most models are made of. A layer owns its parameters; calling it computes.
#pragma once
#include "common/base/rng.h"
#include "common/tensor/ops.h"

namespace babygpt {

// Something with parameters. They are handles, so a module can be copied and moved; each has a name, as "key.weight".
struct Module {
    struct Parameter {
        std::string name;
        Tensor tensor;
    };
    std::vector<Parameter> parameters;

    size_t parameter_count() const;

  protected:
    void add(const std::string& name, const Tensor& parameter);  // one used in two places counts once, as named first
    void add(const std::string& name, const Module& part);       // its parameters become ours, as name.theirs
};

enum Bias { with_bias, no_bias };

struct Linear : Module {  // y = x weight^T + bias
    Tensor weight, bias;  // (out, in), (out); both start uniform in +-1/sqrt(in)
    Linear(int in, int out, Rng& rng, Bias has_bias = with_bias);
    Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
};

struct Embedding : Module {  // a row of numbers for each token
    Tensor weight;           // (count, n_embd), starts from N(0, 1)
    Embedding(int count, int n_embd, Rng& rng);
    Tensor operator()(const Tokens& ids) const { return embedding(weight, ids); }
};

struct LayerNorm : Module {  // each row to mean 0 and deviation 1, then scaled and shifted by what it learns
    Tensor weight, bias;     // (n_embd) each, start at 1 and 0
    double epsilon;          // added to the variance: a row of equal numbers must not divide by 0
    explicit LayerNorm(int n_embd, double added = 1e-5);
    Tensor operator()(const Tensor& x) const { return layer_norm(x, weight, bias, epsilon); }
};

// An activation by its name in BertConfig: gelu, or gelu_new, its older approximation by tanh. Fails on any other.
Tensor (*activation(const std::string& name))(Tensor x);

Tokens positions(int T, int first = 0);  // first, first + 1, ..., T of them in one row

// Every stage's model: token numbers (B, T) in, scores of the next token (B, T, V) out.
struct LanguageModel : Module {
    virtual Tensor operator()(const Tokens& ids) const = 0;
    virtual ~LanguageModel() = default;
};

}  // namespace babygpt
