// Task 04b: several heads side by side.
//
// Head (stage 03's) takes x (B, T, C) to (B, T, H). MultiHeadAttention has n_head of them, each with weights of its own
// and H = n_embd / n_head, and lays their results side by side:
//   y = concat(heads[0](x), heads[1](x), ...)         (B, T, C), as n_head * H = C
// The constructor makes the heads and registers them as "heads.0", "heads.1", ...: the optimiser trains only what is
// registered with add(name, part).
//
// Check it: make exercise N=04b
// Hint: heads.emplace_back(n_embd, head_size, rng) makes a head in place and returns it. concat takes a
// std::vector<Tensor>. str("heads.", i) makes a name.
#include "docs/exercises/parts.h"
using namespace babygpt;
using parts::Head;

struct MultiHeadAttention : Module {
    std::vector<Head> heads;

    MultiHeadAttention(const Options& o, Rng& rng) {
        // Made one by one: each draws weights of its own from rng, and can learn to look for something else.
        for (int i = 0; i < o.n_head; ++i)
            add(str("heads.", i), heads.emplace_back(o.n_embd, o.n_embd / o.n_head, rng));
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        std::vector<Tensor> results;
        for (const Head& head : heads) results.push_back(head(x));  // (B, T, H) each: all heads see the same x
        return concat(results);                                     // (B, T, C)
    }
};
