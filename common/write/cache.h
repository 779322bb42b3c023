// Keys and values of the places a model has read, kept so that a new place costs one row and not the whole block.
#pragma once
#include "common/tensor/tensor.h"

namespace babygpt {

// Of one attention layer, for each of B sequences that may have different lengths. For writing, not for training: no
// gradients.
class KeyValueCache {
  public:
    KeyValueCache(int B, int block_size, int n_embd);

    // qkv (S, T, 3C): T new places of the sequences first .. first + S - 1. Their keys and values are added to what is
    // kept, and each query attends to all places of its sequence up to its own.
    Tensor attend(const Tensor& qkv, int n_head, int first);  // (S, T, C)

    int length(int sequence) const { return lengths[size_t(sequence)]; }
    void clear(int sequence) { lengths[size_t(sequence)] = 0; }

  private:
    size_t block, C;
    std::vector<real> keys, values;  // (B, block, C)
    std::vector<int> lengths;
};

}  // namespace babygpt
