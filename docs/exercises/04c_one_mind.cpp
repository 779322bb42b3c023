// Bug hunt 04c: four heads of one mind.
//
// Several heads side by side, as in stage 04. Head is stage 03's. A layer's parameters are handles: a copy of a layer
// has the same numbers as the layer, not equal ones.
//
// The symptom: four heads are no better than one, with whatever seed and after however many steps. The optimiser lists
// four heads' parameters. Each of them shows the same numbers at every step.
//
// Check it: make exercise N=04c
#include "docs/exercises/parts.h"
using namespace babygpt;
using parts::Head;

struct MultiHeadAttention : Module {
    std::vector<Head> heads;

    MultiHeadAttention(const Options& o, Rng& rng)
        : heads(size_t(o.n_head), Head(o.n_embd, o.n_embd / o.n_head, rng)) {
        for (size_t i = 0; i < heads.size(); ++i) add(str("heads.", i), heads[i]);
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        std::vector<Tensor> results;
        for (const Head& head : heads) results.push_back(head(x));  // (B, T, H) each
        return concat(results);                                     // (B, T, C)
    }
};
