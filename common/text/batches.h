// Pieces of a text to train on.
#pragma once
#include <span>
#include <vector>

#include "common/base/rng.h"
#include "common/tensor/ops.h"

namespace babygpt {

struct Batch {
    Tokens x, y;  // (B, T) each; y is x one step later: the character to be guessed at each place
};
Batch random_batch(const std::vector<int>& tokens, int B, int T, Rng& rng);

// Rows of different lengths side by side: the shorter ones are filled up with `pad`.
struct PaddedRows {
    Tokens ids;                // (B, T)
    std::vector<int> lengths;  // without the padding
};
PaddedRows pad_rows(std::span<const std::vector<int>> rows, int pad);

}  // namespace babygpt
