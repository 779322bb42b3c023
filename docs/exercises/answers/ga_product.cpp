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
    for (size_t i = 0; i < dy.size(); ++i) {
        // With b held still, y changes b times as fast as a. += and not =, as this is one share of perhaps many.
        da[i] += dy[i] * b[i];
        db[i] += dy[i] * a[i];
    }
}

// y = a * a + a
void square_plus_pullback(std::span<const real> a, std::span<const real> dy, std::span<real> da) {
    for (size_t i = 0; i < dy.size(); ++i) {
        da[i] += dy[i] * a[i];  // the first a of a * a: the second one is its constant
        da[i] += dy[i] * a[i];  // the second
        da[i] += dy[i];         // the a that is added
    }
}
