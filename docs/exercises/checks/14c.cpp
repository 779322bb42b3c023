// as shipped: After 2 steps 10 keys are kept of a text of 5 places
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int C = 6, H = 4, S = 5;
    Rng rng(2);
    CachedCrossHead head(C, H, rng);
    Tensor x = random_tensor({2, 4, C}, 1), read = random_tensor({2, S, C}, 2);
    NoGrad evaluation;
    Tensor scores = matmul(head.query(x), transpose(head.key(read))) / std::sqrt(H);
    Tensor whole = matmul(softmax(scores), head.value(read));  // (2, 4, H)
    for (int step = 0; step < 4; ++step) {
        Tensor found = head(slice(x, 1, step, step + 1), read);
        expect_same(str("step ", step, ": result"), found, slice(whole, 1, step, step + 1), "It was right before.");
        expect(head.keys.node && head.values.node, str("After step ", step, " nothing is kept"),
               "A cache keeps what need not be computed again.");
        expect(head.keys.size(1) == S && head.values.size(1) == S,
               str("After ", step + 1, " steps ", head.keys.size(1), " keys are kept of a text of ", S, " places"),
               "Which of the two texts grows, the one that is read or the one that is written?");
    }
    Tensor kept = head.keys;
    head(slice(x, 1, 0, 1), random_tensor({2, S, C}, 3));
    expect_same("keys after one more step", head.keys, kept,
                "What is kept is computed once, at the first step: later steps need not look at `read` at all.");
    return "What was read is kept once, and a step costs the same however much is written.";
}
