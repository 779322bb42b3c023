// Blocks on top of each other.
#pragma once
#include "common/nn/gradient_checkpointing.h"

namespace babygpt {

// One block after the other.
template <class Block>
struct Sequential : std::vector<Block> {
    Tensor operator()(const Tensor& x) const {
        return through_layers(this->size(), x, [this](size_t i, const Tensor& y) { return (*this)[i](y); });
    }
};

}  // namespace babygpt
