// Task gb: send a gradient back through softmax.
//
// Softmax turns scores x (n) into probabilities y (n): y[i] = exp(x[i]) / sum over j of exp(x[j]). Raising one score
// raises its own probability and lowers all the others:
//   the slope of y[j] towards x[i] is  y[j] * (1 - y[i])  if i == j,  and  -y[j] * y[i]  otherwise
// dy (n) says how much the loss changes with each y[j]. dx (n) shall say how much it changes with each x[i]. x[i] acts
// through every y[j], so the shares add up:
//   dx[i] = sum over j of dy[j] * (slope of y[j] towards x[i])
// The scores x are not needed: y knows enough. dx is written, not added to.
//
// Check it: make exercise N=gb
// Hint: two loops do it. With pencil and paper the sum becomes y[i] * (dy[i] - s), where s is the same for every i.
#include <span>

#include "common/tensor/real.h"
using namespace babygpt;

void softmax_pullback(std::span<const real> y, std::span<const real> dy, std::span<real> dx) {
    // dx[i] = dy[i] y[i] - y[i] * sum over j of dy[j] y[j]: the -y[j] y[i] stands in every slope, also where i == j.
    real s = 0;
    for (size_t j = 0; j < y.size(); ++j) s += dy[j] * y[j];
    for (size_t i = 0; i < y.size(); ++i) dx[i] = y[i] * (dy[i] - s);
}
