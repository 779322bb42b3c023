// checkpoint(): the same values and gradients, of what was forgotten and computed again.
#include "common/nn/gradient_checkpointing.h"

#include "common/babygpt.h"
#include "common/tensor/allocator.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

using Function = std::function<Tensor(const Tensor&)>;

// The value of f(x), then the gradients of all that it is made of, with dropout masks from seed 5.
std::vector<std::vector<real>> all_of(const Function& f, const Tensor& x, std::vector<Tensor> parameters) {
    parameters.push_back(x);
    for (Tensor& parameter : parameters) parameter.clear_grad();
    Rng masks(5);
    DropoutScope training(masks);
    Tensor y = f(x);
    std::vector<std::vector<real>> all{copy(y.values())};
    y.backward(random_constant(y.shape(), 9));
    for (const Tensor& parameter : parameters) all.push_back(copy(parameter.grad()));
    all.push_back({real(masks.next() >> 40)});  // the stream goes on where it would have
    return all;
}

struct Layer {  // with a parameter that is used twice, and dropout
    Tensor weight = random_tensor({8, 8}, 1, 0.5), bias = random_tensor({8}, 2), gain = random_tensor({8}, 3);
    Tensor operator()(const Tensor& x) const {
        Tensor h = Dropout{0.3}(tanh(linear(x, weight, bias)));
        return x + layer_norm(linear(h, weight, bias), gain, bias);
    }
};

}  // namespace

TEST_SUITE("gradient_checkpointing") {
    TEST_CASE("checkpoint: value and gradients are the same to the bit, dropout masks included") {
        Layer layer;
        Tensor x = random_tensor({2, 3, 8}, 4);
        Function plain = [&](const Tensor& y) { return layer(layer(y)); };
        Function whole = [&](const Tensor& y) { return checkpoint(plain, y); };
        Function each = [&](const Tensor& y) { return checkpoint(layer, checkpoint(layer, y)); };
        Function nested = [&](const Tensor& y) { return checkpoint(each, y); };
        auto expected = all_of(plain, x, {layer.weight, layer.bias, layer.gain});
        for (const Function& f : {whole, each, nested})
            CHECK(all_of(f, x, {layer.weight, layer.bias, layer.gain}) == expected);
    }

    TEST_CASE("checkpoint: gradients against finite differences") {
        Layer layer;
        Tensor x = random_tensor({2, 3, 8}, 4);
        auto f = [&] {
            Rng masks(5);
            DropoutScope training(masks);
            return checkpoint(layer, checkpoint(layer, x)) * x;  // and x is used elsewhere
        };
        check_gradients(f, {x, layer.weight, layer.bias, layer.gain}, 20, in_double ? 1e-6 : 3e-2);
    }

    TEST_CASE("checkpoint: forgets what is inside, and all of it is gone after the walk") {
        Layer layer;
        Tensor x = random_tensor({64, 8}, 4);
        sum(layer(x)).backward();  // makes room for gradients
        auto live_after = [&](const Function& f) {
            size_t before = live_bytes();
            Tensor y = f(x);
            return live_bytes() - before;
        };
        double one = double(x.count() * sizeof(real));
        CHECK(double(live_after([&](const Tensor& y) { return checkpoint(layer, y); })) < 1.1 * one);
        CHECK(double(live_after(layer)) > 2.5 * one);
        size_t before = live_bytes();
        sum(checkpoint(layer, x)).backward();
        CHECK(live_bytes() == before);
    }

    TEST_CASE("checkpoint: parameters learn behind an x that wants no gradient, and so does what f hands through") {
        Tensor weight = random_tensor({3, 3}), x = random_constant({2, 3}, 2), wanted = random_tensor({2, 3}, 3);
        sum(checkpoint([&](const Tensor& y) { return linear(y, weight); }, x)).backward();
        CHECK(weight.has_grad());
        CHECK_FALSE(x.has_grad());
        sum(checkpoint([](const Tensor& y) { return y; }, wanted)).backward();
        CHECK(copy(wanted.grad()) == std::vector<real>(6, 1));
        Tensor table = random_tensor({2, 3});
        sum(checkpoint([&](const Tensor&) { return table; }, x)).backward();
        CHECK(copy(table.grad()) == std::vector<real>(6, 1));
        CHECK_NOTHROW(sum(checkpoint([&](const Tensor& y) { return y; }, x)).backward());
    }

    TEST_CASE("checkpoint: outside of a DropoutScope no dropout mask is drawn, also where the walk is inside of one") {
        Layer layer;
        Tensor x = random_tensor({2, 8}, 4);
        sum(layer(x)).backward();
        std::vector<real> expected = copy(x.grad());
        x.clear_grad();
        Tensor loss = sum(checkpoint(layer, x));
        Rng masks(1);
        DropoutScope training(masks);
        loss.backward();
        CHECK(copy(x.grad()) == expected);
    }

    TEST_CASE("checkpoint: under NoGrad it is f; backward() under NoGrad is refused") {
        Layer layer;
        Tensor x = random_tensor({2, 8}, 4), recorded = sum(checkpoint(layer, x));
        NoGrad evaluation;
        int calls = 0;
        Tensor y = checkpoint(
            [&](const Tensor& z) {
                ++calls;
                return layer(z);
            },
            x);
        CHECK(calls == 1);
        CHECK_FALSE(y.wants_grad());
        check_error([&] { recorded.backward(); }, {"checkpoint", "NoGrad"});
    }

    TEST_CASE("checkpoint: an error inside, forward or on the way back, leaves nothing broken") {
        Layer layer;
        Tensor x = random_tensor({2, 8}, 4);
        auto expected = all_of(layer, x, {layer.weight});
        int calls = 0, fails_at = 1;
        Function f = [&](const Tensor& y) {
            Tensor z = layer(y);
            if (++calls == fails_at) fail("not now");
            return z;
        };
        check_error([&] { checkpoint(f, x); }, {"not now"});
        CHECK(grad_enabled());
        calls = 0, fails_at = 2;
        size_t before = live_bytes();
        check_error([&] { sum(checkpoint(f, x * 2.0)).backward(); }, {"not now"});
        CHECK(live_bytes() == before);
        CHECK(all_of([&](const Tensor& y) { return checkpoint(layer, y); }, x, {layer.weight}) == expected);
    }

    TEST_CASE("checkpoint: a tensor that f took from outside gets its gradient, or the walk is refused") {
        Tensor x = random_tensor({4}), outside = random_tensor({4}, 2);
        auto loss = [&](bool later) {
            Tensor h = outside * outside;
            Tensor y = checkpoint([h](const Tensor& z) { return z * h; }, x);
            return later ? sum(y) + sum(h) : sum(h) + sum(y);
        };
        int right = 0, refused = 0;
        for (bool later : {false, true}) {
            x.clear_grad(), outside.clear_grad();
            try {
                loss(later).backward();
                ++right;
                for (size_t i = 0; i < 4; ++i)
                    CHECK(outside.grad()[i] ==
                          doctest::Approx(2 * double(outside.values()[i]) * (1 + double(x.values()[i]))));
            } catch (const Error& error) {
                ++refused;
                CHECK(std::string(error.what()).find("walked before") != std::string::npos);
            }
        }
        CHECK(right == 1);  // where the walk comes to the checkpoint first
        CHECK(refused == 1);
    }

    TEST_CASE("checkpoint: a second tensor that f owns gets its gradient, to the bit, wherever else it is used") {
        Layer layer;
        Tensor x = random_tensor({2, 8}), outside = random_tensor({2, 8}, 2);
        auto gradient = [&](bool forgets, bool later) {
            x.clear_grad(), outside.clear_grad();
            Tensor h = layer(outside), y = x;
            for (int i = 0; i < 3; ++i) {
                auto f = [h, layer](const Tensor& z) { return layer(z * h) + h; };
                y = forgets ? checkpoint(f, y, h) : f(y);
            }
            (later ? sum(y) + sum(h) : sum(h) + sum(y)).backward();
            return std::pair(copy(x.grad()), copy(outside.grad()));
        };
        for (bool later : {false, true}) CHECK(gradient(true, later) == gradient(false, later));
    }
}
