// Bug hunt 05c: eight times the parameters, and nothing gained.
//
// A feed-forward network as in stage 05: up, ReLU, down.
//
// The symptom: the model is no better than without it. Trained or not, the network is a straight line: what it makes
// of x + z is what it makes of x plus what it makes of z, less what it makes of 0. One Linear with an eighth of the
// parameters could do the same.
//
// Check it: make exercise N=05c
#include "common/base/options.h"
#include "common/nn/nn.h"
using namespace babygpt;

struct FeedForward : Module {
    Linear up, down;

    FeedForward(const Options& o, Rng& rng)
        : up(o.n_embd, 4 * o.n_embd, rng),
          down(4 * o.n_embd, o.n_embd, rng) {
        add("up", up), add("down", down);
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        Tensor h = up(x);                       // (B, T, 4C)
        // relu returns a new tensor and leaves h as it was: its result was thrown away.
        h = relu(h);
        return down(h);  // (B, T, C)
    }
};
