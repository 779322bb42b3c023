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
        // your code here
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        // your code here
        return x;  // (B, T, C)
    }
};
