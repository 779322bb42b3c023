// Task 06b: measure what happens to the numbers from block to block.
//
// The deviation of a tensor's n numbers says how far they typically lie from their mean:
//   mean = sum of x[i] / n
//   deviation = sqrt(sum of (x[i] - mean)^2 / n)           over all n numbers of x (B, T, C)
// deviations(blocks, x) sends x through the blocks, one after the other, and notes the deviation at the entrance and
// after each block: n_layer + 1 numbers. Block is stage 06's. The check then tells what you measured.
//
// Check it: make exercise N=06b
// Hint: sum in double. `NoGrad evaluation;` in a function keeps the core from recording a graph that nobody walks.
#include <cmath>

#include "docs/exercises/parts.h"
using namespace babygpt;
using parts::Block;

double deviation(const Tensor& x) {
    // your code here
    return 0;
}

std::vector<double> deviations(const std::vector<Block>& blocks, Tensor x) {
    std::vector<double> result;
    // your code here
    return result;
}
