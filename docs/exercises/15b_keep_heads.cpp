// Task 15b: heads cut out.
//
// query, key and value turn C numbers into heads * H, with a bias; output turns these into C again. A Linear's weight
// is (out, in), so head h owns rows h * H to (h + 1) * H - 1 of the first three, as many numbers of their biases, and
// the same columns of output. Keep only the heads in `heads`, in this order. output's bias belongs to no head.
//
// Check it: make exercise N=15b
// Hint: slice(x, axis, first, last) and concat(parts, axis) do it; weight.replace(other) changes a parameter's shape.
#include "common/nn/nn.h"
using namespace babygpt;

void keep_heads(Linear& query, Linear& key, Linear& value, Linear& output, const std::vector<int>& heads, int H) {
    // your code here
}
