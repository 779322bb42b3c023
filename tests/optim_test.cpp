// From gradients to parameters: AdamW worked by hand, the learning rate's path, clipping, and parts that threads share.
#include "common/nn/optim.h"

#include "common/nn/clip.h"
#include "common/nn/schedule.h"
#include "common/tensor/kernels.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

Module::Parameter with_gradient(const std::vector<real>& values, const std::vector<real>& gradient) {
    int n = int(values.size());
    Tensor p = Tensor::parameter({n});
    std::ranges::copy(values, p.values().begin());
    sum(p * Tensor({n}, gradient)).backward();
    return {"p", p};
}

}  // namespace

TEST_SUITE("optim") {
    TEST_CASE("AdamW: the first step by hand: each number moves by the learning rate, against its gradient's sign") {
        AdamW adam({with_gradient({1, 2, 3}, {0.5, -40, 0})}, 0);
        adam.step(0.1);
        // mean = 0.1 g, square = 0.01 g^2; corrected they are g and g^2, so the step is 0.1 g / |g|.
        check_values(adam.parameters[0].tensor, {3}, {0.9, 2.1, 3});
        check_values(adam.means[0], {3}, {0.05, -4, 0});
        check_values(adam.squares[0], {3}, {0.0025, 16, 0}, 1e-6);
        CHECK(adam.steps == 1);
        CHECK_FALSE(adam.parameters[0].tensor.has_grad());
    }

    TEST_CASE("AdamW: the second step by hand") {
        AdamW adam({with_gradient({1}, {2})}, 0);
        adam.step(0.1);
        sum(adam.parameters[0].tensor * Tensor({1}, {-1})).backward();
        adam.step(0.1);
        double mean = (0.9 * 0.2 + 0.1 * -1) / (1 - 0.81), square = (0.99 * 0.04 + 0.01) / (1 - 0.9801);
        check_values(adam.parameters[0].tensor, {1}, {0.9 - 0.1 * mean / std::sqrt(square)}, 1e-6);
    }

    TEST_CASE("AdamW: weight decay is decoupled: it shrinks a parameter whatever its gradient was") {
        AdamW decayed({with_gradient({8, -8, 4}, {0, 0, 3})}, 0.5), plain({with_gradient({8, -8, 4}, {0, 0, 3})}, 0);
        decayed.step(0.1), plain.step(0.1);
        check_values(plain.parameters[0].tensor, {3}, {8, -8, 3.9});
        check_values(decayed.parameters[0].tensor, {3}, {8 * 0.95, -8 * 0.95, 4 * 0.95 - 0.1});
        CHECK(same_bytes(decayed.means[0].values(), plain.means[0].values()));
        CHECK(same_bytes(decayed.squares[0].values(), plain.squares[0].values()));
    }

    TEST_CASE("AdamW: a tiny gradient is held down by epsilon, not blown up") {
        AdamW adam({with_gradient({0}, {real(1e-12)})}, 0);
        adam.step(0.1);
        CHECK(std::abs(double(adam.parameters[0].tensor.values()[0])) == doctest::Approx(0.1 * 1e-4).epsilon(0.01));
    }

    TEST_CASE("AdamW: a parameter without gradient stays as it is") {
        Tensor untouched = random_tensor({4}, 1);
        std::vector<real> before = copy(untouched.values());
        AdamW adam({{"untouched", untouched}, with_gradient({1}, {1})}, 0.5);
        adam.step(0.1);
        CHECK(same_bytes(untouched.values(), before));
    }

    TEST_CASE("AdamW: in any number of parts it is the same step, bit for bit") {
        for (int parts : {1, 2, 3, 7, 50}) {
            auto make = [] {
                Rng rng(1, "test");
                std::vector<real> values(37), gradient(37);
                for (size_t i = 0; i < 37; ++i) values[i] = real(rng.normal()), gradient[i] = real(rng.normal());
                return AdamW({with_gradient(values, gradient), with_gradient({1, 2, 3}, {3, 2, 1})}, 0.1);
            };
            AdamW whole = make(), split = make();
            whole.begin(), split.begin();
            whole.update(0.1, 0.5, 0, 1);
            for (int part = 0; part < parts; ++part) split.update(0.1, 0.5, part, parts);
            for (size_t i = 0; i < 2; ++i) {
                CHECK(same_bytes(whole.parameters[i].tensor.values(), split.parameters[i].tensor.values()));
                CHECK(same_bytes(whole.means[i].values(), split.means[i].values()));
                CHECK(same_bytes(whole.squares[i].values(), split.squares[i].values()));
            }
        }
    }

    TEST_CASE("AdamW: gradient_scale scales the gradient") {
        AdamW scaled({with_gradient({1, 1}, {4, -8})}, 0), small({with_gradient({1, 1}, {1, -2})}, 0);
        scaled.begin(), small.begin();
        scaled.update(0.1, 0.25, 0, 1), small.update(0.1, 1, 0, 1);
        CHECK(difference(scaled.means[0].values(), small.means[0].values()) < rounding);
        CHECK(difference(scaled.squares[0].values(), small.squares[0].values()) < rounding);
    }

    TEST_CASE("for_part: the parts cover every number once") {
        std::vector<Module::Parameter> list;
        for (int n : {1, 5, 2, 16, 3}) list.push_back({"p", Tensor::zeros({n})});
        for (int parts : {1, 2, 3, 5, 27, 40}) {
            std::vector<std::vector<int>> seen;
            for (const auto& [name, tensor] : list) seen.emplace_back(tensor.count());
            for (int part = 0; part < parts; ++part)
                for_part(list, part, parts, [&](size_t i, size_t first, size_t last) {
                    CHECK(first < last);
                    for (size_t j = first; j < last; ++j) ++seen[i].at(j);
                });
            for (const std::vector<int>& counts : seen)
                CHECK(std::ranges::count(counts, 1) == std::ptrdiff_t(counts.size()));
        }
    }

    TEST_CASE("clip_scale: only gradients longer than the limit are shortened, to the limit") {
        CHECK(clip_scale(25, 1) == doctest::Approx(0.2));
        CHECK(clip_scale(25, 5) == 1);
        CHECK(clip_scale(25, 100) == 1);
        CHECK(clip_scale(25, 0) == 1);  // no limit
        CHECK(clip_scale(0, 1) == 1);
    }

    TEST_CASE("sum_of_squares: at every length, and without losing small numbers among many") {
        for (size_t n : {0, 1, 7, 8, 17, 4096, 4097}) {
            std::vector<real> x(n);
            for (size_t i = 0; i < n; ++i) x[i] = real(i % 10);
            double expected = 0;
            for (real v : x) expected += double(v) * double(v);
            CHECK(sum_of_squares(x) == doctest::Approx(expected));
        }
        CHECK(sum_of_squares(std::vector<real>(1'000'000, real(0.1))) == doctest::Approx(10000).epsilon(1e-5));
    }

    TEST_CASE("Schedule: constant unless asked for more") {
        Schedule constant{.learning_rate = 0.5};
        for (int step : {0, 1, 1000}) CHECK(constant.at(step) == 0.5);
    }

    TEST_CASE("Schedule: rises to the rate over the warm-up, falls along a cosine to a tenth") {
        Schedule s{.learning_rate = 1, .warmup = 9, .steps = 109, .decay = true};
        CHECK(s.at(0) == doctest::Approx(0.1));
        CHECK(s.at(4) == doctest::Approx(0.5));
        CHECK(s.at(8) == doctest::Approx(0.9));
        CHECK(s.at(9) == doctest::Approx(1));
        CHECK(s.at(59) == doctest::Approx(0.55));  // half way: the middle of 1 and 0.1
        CHECK(s.at(34) == doctest::Approx(0.1 + 0.45 * (1 + std::sqrt(0.5))));
        CHECK(s.at(109) == doctest::Approx(0.1));
        CHECK(s.at(500) == doctest::Approx(0.1));  // a run made longer
        for (int step = 1; step < 9; ++step) CHECK(s.at(step) > s.at(step - 1));
        for (int step = 10; step < 109; ++step) CHECK(s.at(step) < s.at(step - 1));
    }

    TEST_CASE("Schedule: warm-up without decay, and a warm-up longer than the run") {
        Schedule no_decay{.learning_rate = 2, .warmup = 3, .steps = 10};
        CHECK(no_decay.at(0) == doctest::Approx(0.5));
        CHECK(no_decay.at(3) == 2);
        CHECK(no_decay.at(10) == 2);
        Schedule short_run{.learning_rate = 1, .warmup = 100, .steps = 10, .decay = true};
        CHECK(short_run.at(9) == doctest::Approx(10.0 / 101));
    }
}
