// Operations along axes: by hand, against finite differences, and what they say to axes that are not there.
#include "common/tensor/ops.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

Tensor counted(const Shape& shape) {  // 0, 1, 2, ...
    Tensor x = Tensor::zeros(shape);
    for (size_t i = 0; i < x.count(); ++i) x.values()[i] = real(i);
    return x;
}

}  // namespace

TEST_SUITE("axes") {
    TEST_CASE("by hand: reshape, transpose, slice, concat, sum along any axis") {
        Tensor x = counted({2, 2, 3});
        check_values(reshape(x, {3, 4}), {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
        check_values(transpose(x), {2, 3, 2}, {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11});
        check_values(transpose(x, 0, 1), {2, 2, 3}, {0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11});
        check_values(transpose(x, -1, 0), {3, 2, 2}, {0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11});
        check_values(transpose(x, 1, -2), {2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
        check_values(slice(x, -1, 1, 3), {2, 2, 2}, {1, 2, 4, 5, 7, 8, 10, 11});
        check_values(slice(x, 1, 1, 2), {2, 1, 3}, {3, 4, 5, 9, 10, 11});
        check_values(slice(x, 0, 0, 1), {1, 2, 3}, {0, 1, 2, 3, 4, 5});
        check_values(sum(x, 0), {2, 3}, {6, 8, 10, 12, 14, 16});
        check_values(sum(x, 1), {2, 3}, {3, 5, 7, 15, 17, 19});
        check_values(sum(x, -1), {2, 2}, {3, 12, 21, 30});
        check_values(sum(Tensor({3}, {1, 2, 3}), 0), {1}, {6});
        Tensor one = counted({1, 2}), two = counted({2, 2});
        check_values(concat({one, two}, 0), {3, 2}, {0, 1, 0, 1, 2, 3});
        check_values(concat({two, two}, 1), {2, 4}, {0, 1, 0, 1, 2, 3, 2, 3});
    }

    TEST_CASE("gradients: every axis, on named tensors and on temporaries") {
        Tensor x = random_tensor({2, 3, 4, 5}, 1);
        check_gradients([&] { return reshape(x, {6, 20}); }, {x});
        check_gradients([&] { return reshape(x * 1.0, {2, 60}) * random_constant({60}); }, {x});
        for (int axis = -4; axis < 4; ++axis) {
            CAPTURE(axis);
            check_gradients([&] { return sum(x, axis); }, {x});
            check_gradients([&] { return slice(x, axis, 0, 1); }, {x});
            check_gradients([&] { return slice(x, axis, 1, 2) * 2.0 + slice(x * 1.0, axis, 0, 1); }, {x});
            check_gradients(
                [&] {
                    return concat({x, slice(x, axis, 0, 1), random_constant({2, 3, 4, 5}), x}, axis);
                },
                {x});
            for (int other = -4; other < 4; ++other) check_gradients([&] { return transpose(x, axis, other); }, {x});
        }
    }

    TEST_CASE("slices of a whole, concatenated, are the whole; transposing twice changes nothing") {
        Tensor x = random_tensor({3, 4, 5}, 1);
        for (int axis = 0; axis < 3; ++axis) {
            std::vector<Tensor> parts;
            for (int i = 0; i < x.size(axis); ++i) parts.push_back(slice(x, axis, i, i + 1));
            CHECK(same_bytes(concat(parts, axis).values(), x.values()));
            for (int other = 0; other < 3; ++other)
                CHECK(same_bytes(transpose(transpose(x, axis, other), other, axis).values(), x.values()));
        }
    }

    TEST_CASE("axes and sizes that are not there are an error with the op's name and the shape") {
        Tensor x = Tensor::zeros({2, 3});
        check_error([&] { sum(x, 2); }, {"sum", "(2,3)", "no axis 2"});
        check_error([&] { sum(x, -3); }, {"sum", "(2,3)", "no axis -3"});
        check_error([&] { transpose(x, 0, 2); }, {"transpose", "(2,3)", "no axis 2"});
        check_error([&] { concat({x, x}, 2); }, {"concat", "(2,3)", "no axis 2"});
        check_error([&] { concat({x, Tensor::zeros({3, 3})}, 1); }, {"concat", "(2,3)", "(3,3)", "axis 1 only"});
        check_error([&] { slice(x, 5, 0, 1); }, {"slice", "(2,3)", "no axis 5"});
        check_error([&] { slice(x, 1, 0, 4); }, {"slice", "0 to 4", "axis 1", "(2,3)"});
        check_error([&] { slice(x, 1, 2, 2); }, {"slice", "2 to 2"});
        check_error([&] { slice(x, 0, -1, 1); }, {"slice", "-1 to 1"});
        check_error([&] { reshape(x, {4, 2}); }, {"reshape", "(2,3)", "6", "(4,2)"});
        check_error([&] { reshape(x, {-2, -3}); }, {"reshape", "(2,3)", "(-2,-3)"});
        check_error([&] { reshape(x, {}); }, {"reshape", "(2,3)", "()"});
    }
}
