// What parameters start from: PyTorch has torch.nn.init for this.
#pragma once
#include "common/base/rng.h"
#include "common/tensor/tensor.h"

namespace babygpt {

// While it lives, what is made on this thread starts from zeros: for a model whose weights come from a file.
class NoInitWeights {
  public:
    NoInitWeights();
    ~NoInitWeights();
    NoInitWeights(const NoInitWeights&) = delete;

  private:
    bool before;
};

void fill_uniform(Tensor& tensor, double bound, Rng& rng);  // in +-bound
void fill_normal(Tensor& tensor, double deviation, Rng& rng);
// The sinusoidal position encoding: a row for each place, of sines and cosines of more and more places a turn, so that
// neighbours are alike.
void fill_sinusoids(Tensor& table, double height);

}  // namespace babygpt
