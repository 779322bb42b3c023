// Task 13b: self-attention that looks both ways, and never at padding.
//
// Sentences of different lengths stand in one batch: x (B, T, C), where row b has lengths[b] tokens and padding behind
// them. First the mask: hidden[b, 0, 0, j] is 1 where place j of row b is padding              (B, 1, 1, T)
// The axes of size 1 are repeated, for every head and every place that looks.
// Then attention, with n_head heads of H = C / n_head numbers:
//   scores = q k^T / sqrt(H), for each head             (B, n_head, T, T)
//   scores = -inf where hidden                          places before and after are seen alike
//   result = softmax(scores) v, the heads merged        (B, T, C)
// A row with padding gives at its tokens what it would give alone. A row of length 0 gives zeros, not NaN.
//
// Check it: make exercise N=13b
// Hint: Mask is {shape, values}, see common/tensor/masks.h. Stage 09 has the split, the two einsums and the merge.
#include <cmath>

#include "common/nn/nn.h"
using namespace babygpt;

struct BertSelfAttention : Module {
    Linear query, key, value;
    int n_head;

    BertSelfAttention(int n_embd, int heads, Rng& rng)
        : query(n_embd, n_embd, rng),
          key(n_embd, n_embd, rng),
          value(n_embd, n_embd, rng),
          n_head(heads) {
        add("query", query), add("key", key), add("value", value);
    }

    static Mask hidden(const std::vector<int>& lengths, int T) {
        int B = int(lengths.size());
        Mask mask{{B, 1, 1, T}, std::vector<char>(size_t(B * T), 0)};
        for (int b = 0; b < B; ++b)
            for (int j = lengths[size_t(b)]; j < T; ++j) mask.values[size_t(b * T + j)] = 1;
        return mask;
    }

    Tensor operator()(const Tensor& x, const std::vector<int>& lengths) const {  // (B, T, C)
        auto split = [&](const Tensor& y) { return reshape(y, {x.size(0), x.size(1), n_head, -1}); };
        Tensor q = split(query(x)), k = split(key(x)), v = split(value(x));       // (B, T, n_head, H)
        Tensor scores = einsum("bqhd,bkhd->bhqk", q, k) / std::sqrt(k.size(-1));  // (B, n_head, T, T)
        // The last axis are the keys, those that are looked at. What stands at padding may look: nobody reads it.
        // -inf and no large number: beside others -1e9 hides as well, but where all is hidden all would be alike.
        scores = masked_fill(scores, hidden(lengths, x.size(1)), -INFINITY);
        return reshape(einsum("bhqk,bkhd->bqhd", softmax(scores), v), x.shape());  // (B, T, C)
    }
};
