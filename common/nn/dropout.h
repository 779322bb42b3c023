// Dropout, and the scope in which there is any.
#pragma once
#include "common/base/rng.h"
#include "common/tensor/ops.h"

namespace babygpt {

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
    static Stream current();

  private:
    Stream before;
};

struct Dropout {
    double p;
    Tensor operator()(Tensor x) const;
};

Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v, int n_head, const Dropout& dropout);

}  // namespace babygpt
