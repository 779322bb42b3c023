// as shipped: and gets the same scores at both
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    NoGrad evaluation;
    const int V = 5, T = 4;
    Options o{.block_size = T, .n_embd = 6};
    Rng rng(1);
    Model model(o, V, rng);
    auto scores = [](const Tensor& logits, size_t row) {
        auto all = logits.values();
        return std::vector<real>(all.begin() + std::ptrdiff_t(row * V), all.begin() + std::ptrdiff_t((row + 1) * V));
    };
    const std::vector<int> sentence{2, 1, 2, 0};
    std::string hint = "Print places(ids).ids for a batch of one row, then for a batch of two.";
    Tensor alone = model(Tokens(1, T, sentence));
    expect(!alike(scores(alone, 0), scores(alone, 2)),
           str("The character 2 stands at the places 0 and 2, and gets the same scores at both (the first is ",
               alone.values()[0], "): the model cannot tell places apart."),
           hint);
    std::vector<int> twice = sentence;
    twice.insert(twice.end(), sentence.begin(), sentence.end());
    Tensor both = model(Tokens(2, T, twice));
    for (size_t t = 0; t < size_t(T); ++t)
        expect(alike(scores(both, t), scores(both, T + t)),
               str("The same sentence stands twice in a batch, and at place ", t, " its scores differ."), hint);
    Tensor expected =
        model.lm_head(model.token_embedding(Tokens(1, T, sentence)) + model.position_embedding(positions(T)));
    expect_same("logits", alone, expected, "Every row starts at place 0 and counts up. " + hint);
    return "Every row of a batch starts at place 0, and places differ.";
}
