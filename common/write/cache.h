// Keys and values of the places a model has read, kept so that a new place costs one row and not the whole text.
#pragma once
#include "common/tensor/tensor.h"

namespace babygpt {

// Of one attention layer: what stage 11 writes out in a few lines, in memory that is not copied at every character. For
// writing, not for training: no gradients.
class KeyValueCache {
  public:
    int length() const { return int(kept); }           // places read so far
    void append(const Tensor& k, const Tensor& v);     // (B, T, C) each: of T new places
    Tensor keys() const;                               // (B, length, C), for attention() with a mask of its own
    Tensor values() const;                             // the same
    Tensor attend(const Tensor& q, int n_head) const;  // (B, T, C): the last T places look at all up to their own

  private:
    size_t B = 0, C = 0, kept = 0, room = 0;
    Tensor kept_of(const std::vector<real>& all) const;
    std::vector<real> all_keys, all_values;  // (B, room, C)
};

}  // namespace babygpt
