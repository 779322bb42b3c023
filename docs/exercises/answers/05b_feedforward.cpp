// Task 05b: a small network at each place.
//
//   h = relu(x W1^T + b1)        x (B, T, C), W1 (4C, C), b1 (4C)  ->  h (B, T, 4C)
//   y = h W2^T + b2              W2 (C, 4C), b2 (C)                ->  y (B, T, C)
// C is n_embd. Linear(in, out, rng) holds a weight (out, in) and a bias (out), and calling it computes x W^T + b. `up`
// is the first of the two, `down` the second. Register both, under these names, or the optimiser will not know them.
//
// Check it: make exercise N=05b
// Hint: every place is treated alike and alone: no place sees another. Linear does that by itself.
#include "common/base/options.h"
#include "common/nn/nn.h"
using namespace babygpt;

struct FeedForward : Module {
    Linear up, down;

    FeedForward(const Options& o, Rng& rng)
        : up(o.n_embd, 4 * o.n_embd, rng),  // wider inside: room for more questions than there are answers
          down(4 * o.n_embd, o.n_embd, rng) {
        add("up", up), add("down", down);
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        return down(relu(up(x)));               // ReLU between the two: without it they would be one linear layer
    }
};
