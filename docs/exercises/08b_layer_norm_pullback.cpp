// Task 08b: send a gradient back through layer normalisation.
//
// Forward was, for each row n of x (N, C):  h = (x - mean) / s  with  s = sqrt(variance + 1e-5),  y = h * gain + bias.
// h (N, C) and s (N) were kept; gain is (C). From dy (N, C) find
//   dbias[c] = sum over n of dy[n, c]                                        (C)
//   dgain[c] = sum over n of dy[n, c] * h[n, c]                              (C)
//   dh[n, c] = dy[n, c] * gain[c]
//   dx[n, c] = (dh[n, c] - mean over c of dh[n, c] - h[n, c] * mean over c of (dh[n, c] * h[n, c])) / s[n]    (N, C)
// The two means are there because a change of one x moves the mean and the deviation of its whole row. They take out of
// the gradient what normalising takes out of x: a shift and a scaling of the row change nothing.
//
// Check it: make exercise N=08b
// Hint: row by row: first the two means, then dx. dgain and dbias grow over all rows.
#include "common/tensor/tensor.h"
using namespace babygpt;

struct Gradients {
    Tensor dx, dgain, dbias;  // (N, C), (C), (C)
};

Gradients normalise_pullback(const Tensor& h, const Tensor& s, const Tensor& gain, const Tensor& dy) {
    int N = h.size(0), C = h.size(1);
    Gradients result{Tensor::zeros({N, C}), Tensor::zeros({C}), Tensor::zeros({C})};
    // your code here
    return result;
}
