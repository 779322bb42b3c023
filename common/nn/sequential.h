// Blocks on top of each other.
#pragma once
#include <algorithm>

#include "common/nn/gradient_checkpointing.h"

namespace babygpt {

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

}  // namespace babygpt
