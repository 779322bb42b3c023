// Task 04a: lay the results of several heads side by side.
//
// parts are Tensors of shape (B, T, H0), (B, T, H1), ...: one for each head; their last sizes may differ. In the result
// every place has the numbers of head 0 first, then those of head 1, and so on:
//   y[b, t] = parts[0][b, t] followed by parts[1][b, t] ...          (B, T, C) with C = H0 + H1 + ...
// The pullback cuts dy (B, T, C) at the same borders and gives each head its own piece:
//   dparts[0][b, t] = the first H0 numbers of dy[b, t], and so on    (B, T, H0), (B, T, H1), ...
//
// Check it: make exercise N=04a
// Hint: numbers lie in memory row by row: y[b, t, c] is number (b * T + t) * C + c. Copying the parts whole, one after
// the other, puts head 1 behind the last place and not behind head 0 of the first.
#include "common/tensor/ops.h"
using namespace babygpt;

Tensor concatenate(const std::vector<Tensor>& parts) {
    int B = parts[0].size(0), T = parts[0].size(1), C = 0;
    for (const Tensor& part : parts) C += part.size(2);
    Tensor y = Tensor::zeros({B, T, C});
    // your code here
    return y;
}

// sizes are H0, H1, ...
std::vector<Tensor> concatenate_pullback(const Tensor& dy, const std::vector<int>& sizes) {
    int B = dy.size(0), T = dy.size(1);
    std::vector<Tensor> dparts;
    for (int H : sizes) dparts.push_back(Tensor::zeros({B, T, H}));
    // your code here
    return dparts;
}
