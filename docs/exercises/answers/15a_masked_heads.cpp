// Task 15a: heads switched off.
//
// scores is (B, heads, T, T), already divided and masked; v is (B, T, heads, H). head_mask (heads) has a 1 for each
// head that speaks and a 0 for each that is switched off; a number between lets it speak softly. The result is what the
// heads hand over, side by side: (B, T, heads * H).
//     weights = softmax(scores), times head_mask, a number for each head;   result = weights v
// A row of weights whose head is switched off is all 0 then, and nothing makes up for it: the other heads' rows stay as
// they were, and a head at 0.5 hands over half of what it did.
//
// Check it: make exercise N=15a
// Hint: shapes are aligned at the last axis. What shape does head_mask need to meet the second of four axes?
#include "common/tensor/ops.h"
using namespace babygpt;

Tensor masked_heads(const Tensor& scores, const Tensor& v, const Tensor& head_mask) {
    Tensor weights = softmax(scores) * reshape(head_mask, {-1, 1, 1});  // (B, heads, T, T) * (heads, 1, 1)
    return reshape(einsum("bhqk,bkhd->bqhd", weights, v), {v.size(0), v.size(1), -1});
}
