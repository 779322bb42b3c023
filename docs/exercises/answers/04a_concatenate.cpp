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
    size_t offset = 0;  // where this head's numbers begin in a row of y
    for (const Tensor& part : parts) {
        size_t H = size_t(part.size(2));
        for (size_t row = 0; row < size_t(B * T); ++row)
            for (size_t h = 0; h < H; ++h) y.values()[row * size_t(C) + offset + h] = part.values()[row * H + h];
        offset += H;
    }
    return y;
}

// sizes are H0, H1, ...
std::vector<Tensor> concatenate_pullback(const Tensor& dy, const std::vector<int>& sizes) {
    int B = dy.size(0), T = dy.size(1);
    std::vector<Tensor> dparts;
    for (int H : sizes) dparts.push_back(Tensor::zeros({B, T, H}));
    // The same loops with the copy turned round: forward only moved numbers, so each gradient moves back.
    size_t offset = 0, C = size_t(dy.size(2));
    for (Tensor& dpart : dparts) {
        size_t H = size_t(dpart.size(2));
        for (size_t row = 0; row < size_t(B * T); ++row)
            for (size_t h = 0; h < H; ++h) dpart.values()[row * H + h] = dy.values()[row * C + offset + h];
        offset += H;
    }
    return dparts;
}
