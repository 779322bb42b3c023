// Masks: what they say, how they combine, and a softmax over what they hide.
#include "common/tensor/masks.h"

#include "common/tensor/kernels.h"
#include "common/tensor/ops.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

void check_mask(const Mask& mask, const Shape& shape, const std::vector<int>& values) {
    CHECK(to_string(mask.shape) == to_string(shape));
    CHECK(std::vector<int>(mask.values.begin(), mask.values.end()) == values);
}

Mask every_third(const Shape& shape) {
    Tensor x = Tensor::zeros(shape);
    Mask mask{shape, std::vector<char>(x.count())};
    for (size_t i = 0; i < x.count(); ++i) mask.values[i] = i % 3 == 0;
    return mask;
}

}  // namespace

TEST_SUITE("masks") {
    TEST_CASE("by hand: tril sees itself and what is before, padding the first tokens of each row") {
        check_mask(tril(3), {3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1});
        check_mask(!tril(3), {3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0});
        check_mask(padding({2, 0, 3}, 3), {3, 1, 1, 3}, {1, 1, 0, 0, 0, 0, 1, 1, 1});
    }

    TEST_CASE("by hand: and, or, not, where shapes are alike or broadcast") {
        check_mask(tril(2) && padding({2, 1}, 2), {2, 1, 2, 2}, {1, 0, 1, 1, 1, 0, 1, 0});
        check_mask(padding({2, 1}, 2) && tril(2), {2, 1, 2, 2}, {1, 0, 1, 1, 1, 0, 1, 0});
        check_mask(!(!tril(2) || !padding({2, 1}, 2)), {2, 1, 2, 2}, {1, 0, 1, 1, 1, 0, 1, 0});
        check_mask(tril(2) || !tril(2), {2, 2}, {1, 1, 1, 1});
        check_mask(Mask{{2, 1}, {1, 0}} || Mask{{3}, {0, 0, 1}}, {2, 3}, {1, 1, 1, 0, 0, 1});
    }

    TEST_CASE("an empty mask is no mask: what it meets stays as it is, however it is written") {
        Mask some = tril(2), none;
        for (const Mask& same : {some || none, none || some, some && none, none && some, !(!some || !none),
                                 !(!some && !none), !(!none && !some)})
            check_mask(same, {2, 2}, {1, 0, 1, 1});
        check_mask(!(some && none), {2, 2}, {0, 1, 0, 0});  // still hides what is ahead
        CHECK((none && !none).values.empty());
    }

    TEST_CASE("masked_fill: fills where the mask, broadcast, is true") {
        Tensor x({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
        check_values(masked_fill(x, !tril(2), 9), {2, 1, 2, 2}, {1, 9, 3, 4, 5, 9, 7, 8});
        check_values(masked_fill(x, !padding({2, 1}, 2), 9), {2, 1, 2, 2}, {1, 2, 3, 4, 5, 9, 7, 9});
        check_values(masked_fill(x, Mask{{2, 1}, {0, 1}}, 9), {2, 1, 2, 2}, {1, 2, 9, 9, 5, 6, 9, 9});
        check_values(masked_fill(x, Mask{{1}, {1}}, 9), {2, 1, 2, 2}, {9, 9, 9, 9, 9, 9, 9, 9});
        check_values(masked_fill(Tensor({3}, {1, 2, 3}), Mask{{3}, {0, 1, 0}}, 9), {3}, {1, 9, 3});
    }

    TEST_CASE("gradients: masked_fill with masks of every kind of shape") {
        for (const Shape& shape :
             std::vector<Shape>{{2, 3, 4, 5}, {5}, {4, 5}, {1, 5}, {4, 1}, {3, 1, 5}, {2, 1, 1, 5}, {2, 3, 1, 1}}) {
            CAPTURE(to_string(shape));
            Tensor x = random_tensor({2, 3, 4, 5}, 1);
            check_gradients([&] { return masked_fill(x, every_third(shape), real(0.3)); }, {x});
        }
    }

    TEST_CASE("masks that do not fit are an error with both shapes") {
        check_error([] { tril(0); }, {"tril", "(0,0)"});
        check_error([] { padding({3, 5}, 4); }, {"padding", "5", "4"});
        check_error([] { padding({-1}, 4); }, {"padding", "-1"});
        check_error([] { padding({}, 4); }, {"padding", "0 lengths"});
        check_error([] { tril(2) && tril(3); }, {"&&", "(2,2)", "(3,3)", "2 and 3"});
        check_error([] { tril(2) || padding({1}, 3); }, {"||", "(2,2)", "(1,1,1,3)"});
        Tensor x = Tensor::zeros({2, 3, 4});
        check_error([&] { masked_fill(x, tril(4), 0); }, {"masked_fill", "(2,3,4)", "(4,4)", "3 and 4"});
        check_error([&] { masked_fill(x, padding({1}, 4), 0); }, {"masked_fill", "(1,1,1,4)", "larger than (2,3,4)"});
        check_error(
            [&] {
                masked_fill(Tensor::zeros({1, 4}), tril(4), 0);
            },
            {"masked_fill", "(4,4)", "larger than (1,4)"});
    }

    TEST_CASE("an empty mask fills nothing, and neither does its opposite") {
        Tensor x = random_tensor({2, 3});
        CHECK(same_bytes(masked_fill(x, Mask{}, 7).values(), x.values()));
        CHECK(same_bytes(masked_fill(x, !Mask{}, 7).values(), x.values()));
    }

    TEST_CASE("softmax: a row with everything hidden gives zeros, forward and backward, at every length") {
        for (int n = 1; n <= 40; ++n) {
            CAPTURE(n);
            Tensor x = random_tensor({2, n}, uint64_t(n));
            Tensor y = softmax(masked_fill(x, Mask{{2, 1}, {1, 0}}, -INFINITY));  // the first row is hidden
            size_t row = size_t(n);
            CHECK(std::ranges::count(y.values().first(row), real(0)) == n);
            CHECK(same_bytes(y.values().last(row), softmax(Tensor({1, n}, x.values().last(row))).values()));
            sum(y * random_constant({2, n}, 2)).backward();
            CHECK(std::ranges::count(x.grad().first(row), real(0)) == n);
            for (real g : x.grad()) CHECK_FALSE(std::isnan(g));
            std::vector<real> hidden(row + 3, -INFINITY), out(row + 3, 7);
            softmax_row(hidden.data(), out.data(), row + 3, row);
            CHECK(std::ranges::count(out, real(0)) == n + 3);
        }
    }

    TEST_CASE("attention over rows of different lengths: padding reaches nobody, bit for bit") {
        const int T = 6;
        Tensor scores = random_tensor({2, 3, T, T}, 1), v = random_tensor({2, 3, T, 4}, 2);
        Mask visible = tril(T) && padding({4, 6}, T);
        Tensor before = matmul(softmax(masked_fill(scores, !visible, -INFINITY)), v);
        for (size_t head = 0; head < 3; ++head)
            for (real& x : v.values().subspan((head * T + 4) * 4, 8)) x = 1e30f;  // row 0's padding
        Tensor after = matmul(softmax(masked_fill(scores, !visible, -INFINITY)), v);
        CHECK(same_bytes(before.values(), after.values()));
    }
}
