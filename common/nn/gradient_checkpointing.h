// Gradient checkpointing: what lies between two checkpoints is computed again on the way back, instead of kept.
#pragma once
#include <functional>

#include "common/tensor/ops.h"

namespace babygpt {

// f(x) in less memory: what f computes inside is forgotten, and computed again when its gradients are wanted. The
// values are the same to the bit, and so are the gradients where x is used nowhere else. The second call may come when
// the caller is gone, so f owns what it uses. A tensor that passes gradients on, and is no parameter, comes in as x.
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

}  // namespace babygpt
