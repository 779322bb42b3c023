// Gradient checkpointing: what lies between two checkpoints is computed again on the way back, instead of kept.
#pragma once
#include <functional>

#include "common/tensor/ops.h"

namespace babygpt {

// f(x) in less memory: what f computes inside is forgotten, and computed again when its gradients are wanted. The
// values are the same to the bit, and so are the gradients where x is used nowhere else. The second call comes
// from backward(), so what f refers to, such as the model, must live until then; the rest it owns. A tensor that passes
// gradients on, and is no parameter, comes in as x; a second one is named, so that the way back has been through f
// before it goes on from there.
Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& also = {});

// The trainer opens one around every step: while it lives, through_layers makes a checkpoint of so many; 0: none.
class CheckpointScope {
  public:
    explicit CheckpointScope(int blocks);
    ~CheckpointScope();
    CheckpointScope(const CheckpointScope&) = delete;
    static int blocks();

  private:
    int before;
};

// n layers on top of each other: x = layer(i, x). The last ones are no checkpoint: they would be computed again at
// once.
Tensor through_layers(size_t n, Tensor x, const std::function<Tensor(size_t i, const Tensor& x)>& layer,
                      const Tensor& also = {});

}  // namespace babygpt
