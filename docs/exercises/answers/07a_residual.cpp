// Task 07a: a block with a way around.
//
// Stage 06's block replaces x by what attention makes of it. Here each part adds to x instead:
//   x = x + attention(x)                     (B, T, C)
//   x = x + feed_forward(x)                  (B, T, C): it reads the new x, and adds to the new x
// Register the parts as "attention" and "feed_forward".
//
// Check it: make exercise N=07a
// Hint: the parameter x is a copy of a handle. You may give it a new value without changing what the caller has.
#include "docs/exercises/parts.h"
using namespace babygpt;
using parts::FeedForward;
using parts::MultiHeadAttention;

struct Block : Module {
    MultiHeadAttention attention;
    FeedForward feed_forward;

    Block(const Options& o, Rng& rng)
        : attention(o, rng),
          feed_forward(o, rng) {
        add("attention", attention), add("feed_forward", feed_forward);
    }

    Tensor operator()(Tensor x) const {  // (B, T, C)
        x = x + attention(x);            // what was known stays; attention adds what it found
        x = x + feed_forward(x);         // and this x has both
        return x;                        // (B, T, C)
    }
};
