// Bug hunt 07c: a block in which attention is lost.
//
// A block with residual connections, as in stage 07.
//
// The symptom: it trains, and is a little worse than it should be. With a feed-forward that says nothing (all of its
// weights and biases 0) the block hands out exactly what went in, whatever attention found.
//
// Check it: make exercise N=07c
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

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        Tensor seen = x + attention(x);         // (B, T, C)
        // The way around the feed-forward starts where the feed-forward starts: at `seen`. From x it went around
        // attention as well, and what attention found came through only if the feed-forward repeated it.
        Tensor thought = seen + feed_forward(seen);
        return thought;  // (B, T, C)
    }
};
