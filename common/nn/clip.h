// Gradient clipping (Pascanu, Mikolov and Bengio): a step that would be too long is shortened, and keeps its direction.
#pragma once
#include <cmath>

namespace babygpt {

// What to multiply gradients with so that their length, the root of sum_of_squares, is at most `limit` (0: no limit).
inline double clip_scale(double sum_of_squares, double limit) {
    double length = std::sqrt(sum_of_squares);
    return limit > 0 && length > limit ? limit / length : 1;
}

}  // namespace babygpt
