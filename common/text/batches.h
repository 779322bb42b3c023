// Pieces of a text to train on.
#pragma once
#include <vector>

#include "common/base/rng.h"
#include "common/tensor/ops.h"

namespace babygpt {

struct Batch {
    Tokens x, y;  // (B, T) each; y is x one step later: the character to be guessed at each place
};
Batch random_batch(const std::vector<int>& tokens, int B, int T, Rng& rng);

}  // namespace babygpt
