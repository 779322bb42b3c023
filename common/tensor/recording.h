// What a model computes on its way, for those who look inside it: PyTorch has forward hooks for this.
#pragma once
#include "common/tensor/tensor.h"

namespace babygpt {

// While it lives, keeps what linear layers, embeddings and softmax compute on this thread, in the order of their calls.
class Recording {
  public:
    Recording();
    ~Recording();
    Recording(const Recording&) = delete;

    struct Entry {
        Tensor weight, result;  // weight: the layer's or the table; none: result comes from a softmax
    };
    std::vector<Entry> entries;

  private:
    Recording* before;
};

bool is_recorded();                                      // a Recording lives on this thread
Tensor recorded(const Tensor& weight, Tensor&& result);  // the result, which is kept if one lives

}  // namespace babygpt
