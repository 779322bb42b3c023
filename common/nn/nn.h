// Layers: what PyTorch's users get from torch.nn. A layer owns its parameters; calling it computes.
#pragma once
#include <algorithm>
#include <functional>

#include "common/base/rng.h"
#include "common/tensor/ops.h"

namespace babygpt {

// Something with parameters. They are handles, so a module can be copied and moved, and names lead to them:
// "head.key.weight".
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

// While training, dropout zeroes a share of the numbers, anew each time; the trainer opens a scope around every step
// and says which stream to draw from. The same stream gives a row of a batch the same mask, wherever and beside
// whatever other rows it is computed. Outside of a scope (evaluation, sampling) there is no dropout.
class DropoutScope {
  public:
    struct Stream {
        Rng* keys = nullptr;  // one for each use of dropout; nullptr: there is none
        int first_row = 0;    // of the batch, in what is computed
    };
    explicit DropoutScope(Rng& keys, int first_row = 0)
        : DropoutScope(Stream{&keys, first_row}) {}
    explicit DropoutScope(Stream stream);
    ~DropoutScope();
    DropoutScope(const DropoutScope&) = delete;

  private:
    Stream before;
};

struct Dropout {
    double p;
    Tensor operator()(Tensor x) const;
};

Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v, int n_head, const Dropout& dropout);

// f(x) in less memory: what f computes inside is forgotten, and computed again when its gradients are wanted. The
// values are the same to the bit, and so are the gradients where x is used nowhere else. f is called a second time when
// the caller may be gone, so it owns what it uses; a tensor that has a gradient to pass on, and is no parameter, comes
// in as x.
Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& x);

// The trainer opens one around every step: while it lives, a Sequential makes a checkpoint of so many blocks; 0: none.
class CheckpointScope {
  public:
    explicit CheckpointScope(int blocks);
    ~CheckpointScope();
    CheckpointScope(const CheckpointScope&) = delete;
    static int blocks();

  private:
    int before;
};

// One block after the other. The last ones are no checkpoint: they would be computed again at once.
template <class Block>
struct Sequential : std::vector<Block> {
    Tensor operator()(Tensor x) const {
        size_t n = this->size(), k = CheckpointScope::blocks() ? size_t(CheckpointScope::blocks()) : n;
        for (size_t first = 0, last; first < n; first = last) {
            last = std::min(first + k, n);
            auto segment = [this, first, last](Tensor y) {
                for (size_t i = first; i < last; ++i) y = (*this)[i](y);
                return y;
            };
            x = last < n ? checkpoint(segment, x) : segment(x);
        }
        return x;
    }
};

// While it lives, what is made on this thread has no start of its own, only zeros: for a model whose weights come from
// a file.
class NoInitWeights {
  public:
    NoInitWeights();
    ~NoInitWeights();
    NoInitWeights(const NoInitWeights&) = delete;

  private:
    bool before;
};

// An activation by its name in BertConfig: gelu, or gelu_new, its older approximation by tanh. Fails on any other.
Tensor (*activation(const std::string& name))(Tensor x);

void fill_normal(Tensor& tensor, double deviation, Rng& rng);
// A row for each place: sines and cosines of more and more places a turn, so that neighbours are alike.
void fill_waves(Tensor& table, double height);

Tokens positions(int T, int first = 0);  // first, first + 1, ..., T of them in one row

// Every stage's model: token numbers (B, T) in, scores of the next token (B, T, V) out.
struct LanguageModel : Module {
    virtual Tensor operator()(const Tokens& ids) const = 0;
    virtual ~LanguageModel() = default;
};

}  // namespace babygpt
