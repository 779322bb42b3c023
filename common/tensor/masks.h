// Masks: booleans that broadcast as numbers do. masked_fill (ops.h) fills where a mask is true.
#pragma once
#include <vector>

#include "common/tensor/tensor.h"

namespace babygpt {

struct Mask {
    Shape shape;
    std::vector<char> values;  // 0 or 1, row by row; none: no mask, which fills nothing and leaves another as it is
};

Mask tril(int T);                                      // (T, T): true on and below the diagonal, where j <= i
Mask tril(int rows, int columns);                      // the last rows of tril(columns)
Mask padding(const std::vector<int>& lengths, int T);  // (B, 1, 1, T): true where row b's first lengths[b] tokens are

Mask operator!(Mask mask);
Mask operator&&(const Mask& a, const Mask& b);
Mask operator||(const Mask& a, const Mask& b);

}  // namespace babygpt
