// What backward() promises about graphs it cannot walk, and about parameters that change.
#include "common/nn/optim.h"
#include "common/tensor/node.h"
#include "tests/check.h"

using namespace babygpt;

TEST_SUITE("backward") {
    TEST_CASE("backward: a loss that shares nodes with a refused one loses none of their gradients") {
        Tensor x = random_tensor({3}), h = x * x, gone = x * 2.0;
        sum(gone).backward();
        x.clear_grad();
        check_error([&] { sum(h + gone).backward(); }, {"walked before"});  // h is listed before gone is found walked
        sum(h).backward();
        for (size_t i = 0; i < 3; ++i) CHECK(x.grad()[i] == doctest::Approx(2 * x.values()[i]));
    }

    TEST_CASE("backward: from a tensor of any shape, given its gradient") {
        Tensor x = random_tensor({2, 3}), dy = random_constant({2, 3}, 2);
        (x * x).backward(dy);
        for (size_t i = 0; i < 6; ++i)
            CHECK(x.grad()[i] == doctest::Approx(double(2 * x.values()[i] * dy.values()[i])));
        check_error([&] { (x * x).backward(random_constant({3, 2})); }, {"backward", "(3,2)", "(2,3)"});
    }

    TEST_CASE("GradientScope: a parameter is told of when the last of its uses has added to it, and not before") {
        Tensor early = random_tensor({3}), tied = random_tensor({3}, 2), late = random_tensor({3}, 3);
        auto loss = [&] { return sum(tanh(tied * early) * late + tied * tied); };  // tied is used far apart
        std::vector<const Node*> told;
        std::vector<real> of_tied;
        {
            GradientScope telling([&](const Node& parameter) {
                told.push_back(&parameter);
                if (&parameter == tied.node.get()) of_tied = copy(tied.grad());
            });
            loss().backward();
        }
        REQUIRE(told.size() == 3);
        CHECK(told[0] == late.node.get());
        CHECK(of_tied == copy(tied.grad()));
        told.clear();
        loss().backward();
        CHECK(told.empty());  // nobody listens any more
        auto hidden = [&](const Tensor& x) { return tanh(x * late); };
        {
            GradientScope telling([&](const Node& parameter) { told.push_back(&parameter); });
            sum(checkpoint(hidden, early) * tied).backward();
        }
        CHECK(told.empty());  // late is used where it is not seen, so nothing is certain until the end
    }

    TEST_CASE("replace: every handle of a parameter sees its new numbers and shape, and its gradient starts anew") {
        Tensor weight = random_tensor({4, 3}), handle = weight, x = random_constant({2, 3});
        sum(linear(x, weight)).backward();
        weight.replace(Tensor({1, 3}, {1, 2, 3}));
        check_values(handle, {1, 3}, {1, 2, 3});
        CHECK_FALSE(handle.has_grad());
        sum(linear(x, handle)).backward();
        CHECK(weight.grad().size() == 3);
    }

    TEST_CASE("AdamW: refuses a parameter that was replaced by one of another shape") {
        Tensor weight = random_tensor({4, 3});
        AdamW optimiser({{"weight", weight}});
        weight.replace(random_constant({2, 3}));
        check_error([&] { optimiser.step(0.1); }, {"weight", "(4,3)", "(2,3)", "new optimiser"});
    }

    TEST_CASE("Module: a parameter used in two places is counted, saved and updated once") {
        struct Tied : Module {
            Tensor table = random_tensor({5, 2});
            Tied() { add("embedding.weight", table), add("decoder.weight", table); }
        } model;
        REQUIRE(model.parameters.size() == 1);
        CHECK(model.parameters[0].name == "embedding.weight");
        CHECK(model.parameter_count() == 10);
        AdamW optimiser(model.parameters, 0);
        real before = model.table.values()[0];
        (sum(model.table) + sum(model.table)).backward();
        optimiser.step(0.1);
        CHECK(model.table.values()[0] == doctest::Approx(double(before) - 0.1).epsilon(1e-3));  // not 0.2
    }
}
