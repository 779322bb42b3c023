// as shipped: All of y is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int B = 2, T = 3;
    const std::vector<int> sizes{2, 3, 1};
    std::vector<Tensor> heads;
    std::vector<real> in_a_row;
    for (int H : sizes) {
        heads.push_back(random_parameter({B, T, H}, uint64_t(H)));
        in_a_row.insert(in_a_row.end(), heads.back().values().begin(), heads.back().values().end());
    }
    std::string whole =
        "The parts are copied whole, one after the other: y[0, 0] holds several places of head 0. Every "
        "place needs all the heads.";
    expect_same("y", concatenate(heads), concat(heads), "y[b, t] is parts[0][b, t], then parts[1][b, t], and so on.",
                {{whole, Numbers(Shape{B, T, 6}, in_a_row)},
                 {"The heads are in reverse order.", concat({heads[2], heads[1], heads[0]})}});

    Tensor dy = random_tensor({B, T, 6}, 9);
    std::vector<Tensor> expected = core_gradients([&] { return concat(heads); }, heads, dy);
    std::vector<Tensor> found = concatenate_pullback(dy, sizes);
    expect(found.size() == 3, str("There are ", found.size(), " dparts, expected 3."), "One for each size.");
    size_t start = 0;
    for (size_t i = 0; i < 3; ++i) {
        Numbers piece(expected[i].shape(), std::as_const(dy).values().subspan(start, expected[i].count()));
        expect_same(str("dparts[", i, "]"), found[i], expected[i], "Cut every row of dy where concatenate joined it.",
                    {{"dy is cut as a whole, not row by row. Every place has a piece for each head.", piece}});
        start += expected[i].count();
    }
    return "Every place has its heads side by side, and the gradient finds back to each.";
}
