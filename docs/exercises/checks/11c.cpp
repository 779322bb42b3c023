// as shipped: with 7 characters read, scores[0, 0, 0] is
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int V = 7;
    Options o{.block_size = 6, .n_embd = 8};
    Rng rng(1);
    Model model(o, V, rng);
    CachedWriter writer{model, o, {}, {}, {}};
    std::vector<int> text = random_ids(15, V, 2), read;
    NoGrad evaluation;
    for (int c : text) {
        read.push_back(c);
        size_t n = std::min(read.size(), size_t(o.block_size));
        std::vector<int> window(read.end() - std::ptrdiff_t(n), read.end());
        Tensor whole = model(Tokens(1, int(n), window));  // (1, T, V)
        Tensor last({1, 1, V}, std::as_const(whole).values().last(V));
        std::string hint =
            "The block is full: the window slides, and the model reads its 6 characters as places 0 to 5. At "
            "which places were they when their keys were made?";
        if (read.size() <= size_t(o.block_size)) hint = "Below the block size it was right before.";
        expect_same(str("with ", read.size(), " characters read, scores"), writer(c), last, hint);
    }
    return "Below, at and beyond the block size the scores are those of the model.";
}
