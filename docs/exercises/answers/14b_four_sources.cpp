// Task 14b: four sources of keys and values.
//
// An attention layer of a decoder takes its keys and values from one of four places. `of(y)` computes them: a key and a
// value for each place of y.
//   self:                of(x), the new places
//   self, with cache:    what is kept, then of(x)            along axis 1, the places
//   cross:               of(read), the text to translate
//   cross, with cache:   what is kept, as it is: that text does not change while it is translated
// `past` is what was kept; past.key has no node while nothing is. The result is what has to be kept for the next step.
//
// Check it: make exercise N=14b
// Hint: concat({a, b}, 1) puts the places of b after those of a. Do not call of() where nothing is new.
#include <functional>

#include "docs/exercises/parts.h"
using namespace babygpt;

struct Kept {
    Tensor key, value;  // (B, places, H)
};
using Of = std::function<Kept(const Tensor& y)>;

Kept keys_and_values(bool is_cross, const Tensor& x, const Tensor& read, const Kept& past, const Of& of) {
    // What was written grows with every step, so its cache grows; what was read is complete from the start.
    if (is_cross) return past.key.node ? past : of(read);
    Kept fresh = of(x);
    if (!past.key.node) return fresh;
    return {concat({past.key, fresh.key}, 1), concat({past.value, fresh.value}, 1)};
}
