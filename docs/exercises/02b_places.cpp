// Task 02b: character plus place, and the gradient of the places.
//
// ids.ids holds the characters of B rows of T places, row by row: number b * T + t. token (V, C) has a row for each
// character, position (block_size, C) a row for each place; T may be less than block_size.
//   x[b, t, c] = token[ids[b, t], c] + position[t, c]     (B, T, C)
//   dposition[t, c] = sum over b of dx[b, t, c]           (block_size, C); places from T on were not used: 0
// Every row of the batch uses the same positions, so each of the B rows sends its share.
//
// Check it: make exercise N=02b
// Hint: x[b, t, c] is number (b * T + t) * C + c of x.values().
#include "common/tensor/ops.h"
using namespace babygpt;

Tensor embed(const Tokens& ids, const Tensor& token, const Tensor& position) {
    int B = ids.B, T = ids.T, C = token.size(-1);
    Tensor x = Tensor::zeros({B, T, C});
    // your code here
    return x;
}

Tensor position_gradient(const Tensor& dx, int block_size) {
    int B = dx.size(0), T = dx.size(1), C = dx.size(2);
    Tensor dposition = Tensor::zeros({block_size, C});
    // your code here
    return dposition;
}
