// as shipped: masked_heads(scores, v, head_mask)[0, 0, 3] is
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int B = 2, T = 4, heads = 4, H = 3;  // as many heads as places: a mask on the wrong axis fits, too
    Tensor scores = random_tensor({B, heads, T, T}, 1), v = random_tensor({B, T, heads, H}, 2);
    Tensor mask({heads}, {1, 0, 0.5, 1});
    auto sums = [&](const Tensor& weights) {
        return reshape(einsum("bhqk,bkhd->bqhd", weights, v), {B, T, heads * H});
    };
    Tensor by_head = reshape(mask, {heads, 1, 1}), weights = softmax(scores);
    expect_same("masked_heads(scores, v, head_mask)", masked_heads(scores, v, mask), sums(weights * by_head),
                "Each head's weights times its number in the mask.",
                {{"No head is switched off: head_mask is not used yet.", sums(weights)},
                 {"The mask came before softmax: a head whose scores are all 0 still looks, at all places alike.",
                  sums(softmax(scores * by_head))},
                 {"The mask fell on the keys, the last axis, instead of on the heads.", sums(weights * mask)},
                 {"The mask fell on the queries instead of on the heads.", sums(weights * reshape(mask, {T, 1}))},
                 {"The other heads were made louder to make up for the missing one; they stay as they were.",
                  sums(weights * by_head * (heads / 2.5))}});
    return "A head that is switched off hands over nothing, and the others do not notice.";
}
