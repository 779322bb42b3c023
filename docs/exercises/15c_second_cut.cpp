// Bug hunt 15c: the second cut takes the wrong head.
//
// Attention whose heads can be cut out. They are called by the numbers that they had at first, as Hugging Face does it:
// who has a list of useless heads need not work out where they stand after each cut.
//
// The symptom: heads 0 and 2 cut out in one call are right. Head 0 in one call and head 2 in the next are not: nothing
// fails, the shapes are those of a layer with two heads fewer, and the model is worse than it should be. Cut out in the
// other order, first 2 and then 0, it is right again.
//
// Check it: make exercise N=15c
#include <cmath>
#include <set>

#include "docs/exercises/parts.h"
using namespace babygpt;

Tensor slices(const Tensor& x, int axis, const std::vector<int>& places, int H) {
    std::vector<Tensor> parts;
    for (int place : places) parts.push_back(slice(x, axis, place * H, (place + 1) * H));
    return concat(parts, axis);
}

struct PrunableAttention : Module {
    Linear query, key, value, output;
    int head_size;
    std::vector<int> heads_left;  // by the numbers that they had at first

    PrunableAttention(int n_embd, int heads, Rng& rng)
        : query(n_embd, n_embd, rng),
          key(n_embd, n_embd, rng),
          value(n_embd, n_embd, rng),
          output(n_embd, n_embd, rng),
          head_size(n_embd / heads),
          heads_left(positions(heads).ids) {
        add("query", query), add("key", key), add("value", value), add("output", output);
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        auto split = [&](const Tensor& y) { return reshape(y, {y.size(0), y.size(1), -1, head_size}); };
        Tensor q = split(query(x)), k = split(key(x)), v = split(value(x));                   // (B, T, heads, H)
        Tensor w = softmax(einsum("bqhd,bkhd->bhqk", q, k) / std::sqrt(head_size));           // (B, heads, T, T)
        return output(reshape(einsum("bhqk,bkhd->bqhd", w, v), {x.size(0), x.size(1), -1}));  // (B, T, C)
    }

    void prune_heads(const std::set<int>& heads) {
        std::vector<int> left, places;  // the numbers of those that stay, and where they stand in the weights
        for (int head : heads_left)
            if (!heads.contains(head)) left.push_back(head);
        for (int place = 0; place < int(heads_left.size()); ++place)
            if (!heads.contains(place)) places.push_back(place);
        for (Linear* each : {&query, &key, &value}) {
            each->weight.replace(slices(each->weight, 0, places, head_size));
            each->bias.replace(slices(each->bias, 0, places, head_size));
        }
        output.weight.replace(slices(output.weight, 1, places, head_size));
        heads_left = left;
    }
};
