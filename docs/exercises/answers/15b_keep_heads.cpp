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

// The slices of these heads along an axis.
Tensor slices(const Tensor& x, int axis, const std::vector<int>& heads, int H) {
    std::vector<Tensor> parts;
    for (int head : heads) parts.push_back(slice(x, axis, head * H, (head + 1) * H));
    return concat(parts, axis);
}

void keep_heads(Linear& query, Linear& key, Linear& value, Linear& output, const std::vector<int>& heads, int H) {
    for (Linear* each : {&query, &key, &value}) {
        each->weight.replace(slices(each->weight, 0, heads, H));  // what comes out: rows
        each->bias.replace(slices(each->bias, 0, heads, H));
    }
    output.weight.replace(slices(output.weight, 1, heads, H));  // what goes in: columns
}
