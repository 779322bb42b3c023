// as shipped: All of mask is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

namespace {

Numbers table(const Mask& mask) {
    Numbers result(mask.values);
    result.shape = mask.shape;
    return result;
}

Mask mask_where(int rows, int columns, const std::function<bool(int, int)>& hides) {
    Mask mask{{rows, columns}, {}};
    for (int i = 0; i < rows * columns; ++i) mask.values.push_back(hides(i / columns, i % columns));
    return mask;
}

}  // namespace

std::string check() {
    for (int T : {4, 1, 7})
        expect_same(
            "mask", table(hide_future(T)), table(!tril(T)), "mask[i, j] is 1 where j > i.",
            {{"A place must see itself: where i == j nothing is hidden. The first place would see nothing at all.",
              table(mask_where(T, T, [](int i, int j) { return j >= i; }))},
             {"It hides the past and shows the future: the other way round.",
              table(mask_where(T, T, [](int i, int j) { return j < i; }))},
             {"A place sees the one after it. There stands what it has to guess.",
              table(mask_where(T, T, [](int i, int j) { return j > i + 1; }))}});

    const Mask mask = mask_where(3, 4, [](int i, int j) { return (i * 5 + j * 3) % 4 < 2; });
    Tensor x = random_parameter({2, 3, 4}, 1), dy = random_tensor({2, 3, 4}, 2);
    auto first_only = [&](const Tensor& whole, const Tensor& filled) {  // as if the mask were for one matrix
        Tensor result(whole.shape(), whole.values());
        for (size_t i = 0; i < 12; ++i) result.values()[i] = filled.values()[i];
        return result;
    };
    std::string hint =
        "y is fill where mask[i, j] is 1, and x everywhere else. This mask is not square: 3 rows, 4 columns.";
    for (real fill_with : {real(7), real(-INFINITY)}) {
        Tensor filled = masked_fill(x, mask, fill_with);
        expect_same("y", fill_hidden(x, mask, fill_with), filled, hint,
                    {{"y is still x: nothing is filled in yet.", x},
                     {"Only the first matrix is filled. The mask serves all B of them.", first_only(x, filled)},
                     {"It is filled where nothing is hidden, and the hidden is shown.",
                      masked_fill(x, mask_where(3, 4, [&](int i, int j) { return !mask.values[size_t(i * 4 + j)]; }),
                                  fill_with)}});
    }
    Tensor dx = core_gradients([&] { return masked_fill(x, mask, 7); }, {x}, dy)[0];
    expect_same("dx", fill_hidden_pullback(dy, mask), dx, "dx is 0 where something is hidden, and dy everywhere else.",
                {{"dx is still dy: what was filled in has no part in y, so its gradient is 0.", dy},
                 {"Only the first matrix is done. The mask serves all B of them.", first_only(dy, dx)}});
    return "The mask, the filling and its pullback are the core's.";
}
