// Task ga: a gradient through a product, and to a number used three times.
//
// A loss depends on y. dy[i] says how much the loss changes when y[i] changes a little. A pullback turns dy into the
// gradients of what y was made of. All spans hold n numbers, and everything happens number by number.
//   y = a * b      da grows by dy * b, and db by dy * a
//   y = a * a + a  a stands at three places. Each sends its share to da, as if the two others were constants.
// Gradients are added to what is there: other operations may have sent their shares before.
//
// Check it: make exercise N=ga
// Hint: the slope of a * a + a is 2 a + 1. The three shares must add up to dy times that.
#include <span>

#include "common/tensor/real.h"
using namespace babygpt;

// y = a * b
void multiply_pullback(std::span<const real> a, std::span<const real> b, std::span<const real> dy, std::span<real> da,
                       std::span<real> db) {
    // your code here
}

// y = a * a + a
void square_plus_pullback(std::span<const real> a, std::span<const real> dy, std::span<real> da) {
    // your code here
}
