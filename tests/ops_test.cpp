// Every operation: its gradient against finite differences, an example worked by hand, and its word on bad shapes.
#include "common/tensor/ops.h"

#include "tests/check.h"

using namespace babygpt;

namespace {

Tensor zeros(const Shape& shape) { return Tensor::zeros(shape); }

Tensor away_from_zero(const Shape& shape, uint64_t seed) {  // where relu bends, finite differences mean nothing
    Tensor x = random_tensor(shape, seed);
    for (real& v : x.values()) v += v > 0 ? real(0.1) : real(-0.1);
    return x;
}

using Pair = std::pair<Shape, Shape>;
const std::vector<Pair> broadcasts{{{2, 3}, {2, 3}},    {{2, 3, 4}, {4}},       {{4}, {2, 3, 4}},
                                   {{2, 3, 4}, {3, 4}}, {{2, 3, 4}, {1, 4}},    {{2, 1, 4}, {3, 1}},
                                   {{1, 4}, {3, 1}},    {{1}, {2, 3}},          {{2, 3}, {1}},
                                   {{2, 5}, {2, 1}},    {{1, 3, 1}, {2, 1, 4}}, {{3, 17}, {17}}};

struct Unary {
    std::string name;
    std::function<Tensor(Tensor)> apply;  // on (2, 5, 5)
};
const std::vector<Unary> unary{
    {"times 1.5", [](Tensor x) { return std::move(x) * 1.5; }},
    {"over 3", [](Tensor x) { return std::move(x) / 3; }},
    {"relu", [](Tensor x) { return relu(std::move(x)); }},
    {"gelu", [](Tensor x) { return gelu(x); }},
    {"tanh", [](Tensor x) { return tanh(std::move(x)); }},
    {"masked_fill", [](Tensor x) { return masked_fill(std::move(x), !tril(5), real(0.3)); }},
    {"softmax", [](Tensor x) { return softmax(std::move(x)); }},
    {"dropout", [](Tensor x) { return dropout(std::move(x), 0.4, 12345); }},
    {"plus a row", [](Tensor x) { return std::move(x) + random_constant({5}, 8); }},
    {"a row minus it", [](Tensor x) { return random_constant({5}, 8) - std::move(x); }},
    {"times a column",
     [](Tensor x) {
         return std::move(x) * random_constant({5, 1}, 9);
     }},
    {"transpose", [](Tensor x) { return transpose(x); }},
    {"matmul",
     [](Tensor x) {
         return matmul(x, random_constant({5, 5}, 10));
     }},
    {"layer_norm", [](Tensor x) { return layer_norm(x, random_constant({5}, 11), random_constant({5}, 12)); }},
    {"plus itself", [](Tensor x) { return x + x; }},
    {"times itself", [](Tensor x) { return x * x; }},
};

}  // namespace

TEST_SUITE("ops") {
    TEST_CASE("gradients: + - * where shapes are alike or broadcast, either way round") {
        for (const auto& [left, right] : broadcasts) {
            CAPTURE(to_string(left) + " and " + to_string(right));
            Tensor a = random_tensor(left, 1), b = random_tensor(right, 2);
            check_gradients([&] { return a + b; }, {a, b});
            check_gradients([&] { return a - b; }, {a, b});
            check_gradients([&] { return a * b; }, {a, b});
            check_gradients([&] { return a * 1.0 + b * 1.0; }, {a, b});  // temporaries on both sides
            check_gradients([&] { return a * 2.0 - b; }, {a, b});
            check_gradients([&] { return (a + b) * (b - a); }, {a, b});
        }
    }

    TEST_CASE("gradients: each op with one input, on a named tensor and on a temporary") {
        for (const auto& [name, apply] : unary) {
            CAPTURE(name);
            Tensor x = away_from_zero({2, 5, 5}, 3);
            check_gradients([&] { return apply(x); }, {x});
            check_gradients([&] { return apply(x * 1.0); }, {x});
        }
    }

    TEST_CASE("gradients: every op with one input after every other, so that memory passes from op to op" *
              doctest::skip(!in_double)) {  // relu's bend, at a point nobody chose, needs the small steps of double
        for (const auto& [first_name, first] : unary)
            for (const auto& [second_name, second] : unary) {
                CAPTURE(first_name);
                CAPTURE(second_name);
                Tensor x = away_from_zero({2, 5, 5}, 4);
                check_gradients([&] { return second(first(x)); }, {x});
                check_gradients([&] { return x * 0.7 + second(first(x * 1.0)); }, {x});  // as a residual connection
            }
    }

    TEST_CASE("a temporary gives its memory away, a named tensor never: the results are the same") {
        for (const auto& [name, apply] : unary) {
            CAPTURE(name);
            Tensor x = random_tensor({2, 5, 5}, 5), same = random_tensor({2, 5, 5}, 5);
            Tensor of_named = apply(x), of_temporary = apply(same * 1.0);
            CHECK(same_bytes(of_named.values(), of_temporary.values()));
            CHECK(same_bytes(x.values(), random_tensor({2, 5, 5}, 5).values()));
            sum(of_named * of_named).backward();
            sum(of_temporary * of_temporary).backward();
            CHECK(same_bytes(x.grad(), same.grad()));
            NoGrad evaluation;
            CHECK(same_bytes(apply(x).values(), apply(x * 1.0).values()));
            CHECK(same_bytes(x.values(), same.values()));
        }
    }

    TEST_CASE("gradients: sum, matmul, linear, concat, rows") {
        Tensor x = random_tensor({2, 3, 4}, 1), m = random_tensor({3, 4}, 2), n = random_tensor({4, 5}, 3);
        Tensor batch = random_tensor({2, 4, 5}, 4), bias = random_tensor({5}, 5), w = random_tensor({5, 4}, 6);
        Tensor deep = random_tensor({2, 2, 3, 4}, 7), other = random_tensor({2, 2, 4, 3}, 8);
        check_gradients([&] { return sum(x); }, {x});
        check_gradients([&] { return matmul(m, n); }, {m, n});
        check_gradients([&] { return matmul(x, batch); }, {x, batch});
        check_gradients([&] { return matmul(deep, other); }, {deep, other});
        check_gradients([&] { return matmul(x, n); }, {x, n});  // one matrix serves all
        check_gradients([&] { return linear(m, w); }, {m, w});
        check_gradients([&] { return linear(x, w); }, {x, w});
        check_gradients([&] { return linear(x, w, bias); }, {x, w, bias});
        check_gradients([&] { return linear(deep, w, bias); }, {deep, w, bias});
        check_gradients([&] { return concat({x, random_constant({2, 3, 1}), x * 2.0, x}); }, {x});
        check_gradients([&] { return embedding(w, Tokens(2, 3, {0, 4, 4, 1, 0, 4})); }, {w});
    }

    TEST_CASE("gradients: layer_norm, cross_entropy, causal_attention") {
        Tensor x = random_tensor({2, 3, 9}, 1), gain = random_tensor({9}, 2), bias = random_tensor({9}, 3);
        Tokens targets(2, 3, {0, 8, 3, 3, 1, 7});
        check_gradients([&] { return layer_norm(x, gain, bias); }, {x, gain, bias});
        check_gradients([&] { return layer_norm(x, gain, bias, 0.5); }, {x, gain, bias});
        check_gradients([&] { return cross_entropy(x, targets); }, {x});
        check_gradients([&] { return cross_entropy(x, Tokens(1, 6, {0, ignore_index, 3, ignore_index, 1, 7})); }, {x});
        check_gradients([&] { return cross_entropy(x * 1.0, targets); }, {x});
        check_gradients([&] { return cross_entropy(x, targets, 100); }, {x});
        check_gradients([&] { return fused_attention(x, 1); }, {x});
        check_gradients([&] { return fused_attention(x, 3); }, {x});
        check_gradients([&] { return fused_attention(x, 3, 0.3, 42); }, {x});
    }

    TEST_CASE("gradients: a tensor used twice gets the sum of both") {
        Tensor x = random_tensor({3, 3}, 1), stack = random_tensor({2, 4, 4}, 2), qkv = random_tensor({2, 3, 12}, 3);
        Tensor row = random_tensor({3}, 4), table = random_tensor({3, 4}, 5);
        check_gradients([&] { return x + x; }, {x});
        check_gradients([&] { return x * x - x; }, {x});
        check_gradients([&] { return matmul(x, x); }, {x});
        check_gradients([&] { return matmul(stack, stack); }, {stack});
        check_gradients([&] { return matmul(stack, transpose(stack)); }, {stack});
        check_gradients([&] { return linear(x, x, row) + row; }, {x, row});
        check_gradients([&] { return layer_norm(x, row, row) + layer_norm(row, row, row); }, {x, row});
        check_gradients([&] { return embedding(table, positions(3)) + table; }, {table});
        check_gradients([&] { return linear(table, table) + matmul(table, transpose(table)); }, {table});
        check_gradients([&] { return fused_attention(qkv, 2) + fused_attention(qkv, 1); }, {qkv});
        check_gradients([&] { return cross_entropy(x, Tokens(1, 3)) + sum(softmax(x) * x); }, {x});
        check_gradients([&] { return softmax(x + x) * softmax(x); }, {x});
    }

    TEST_CASE("a constant gets no gradient") {
        Tensor x = random_tensor({2, 4}, 1), c = random_constant({2, 4}, 2), row = random_constant({4}, 3);
        Tensor square = random_constant({4, 4}, 4);
        sum(layer_norm(matmul(linear(x * c + c, square, row), square), row, row)).backward();
        CHECK(x.has_grad());
        CHECK_FALSE(c.has_grad());
        CHECK_FALSE(square.has_grad());
        CHECK_FALSE(row.has_grad());
        sum(layer_norm(c, random_tensor({4}), row)).backward();
        CHECK_FALSE(c.has_grad());
    }

    TEST_CASE("by hand: arithmetic") {
        Tensor a({2, 2}, {1, 2, 3, 4}), b({2, 2}, {5, 6, 7, 8}), row({2}, {10, 20}), column({2, 1}, {10, 20});
        check_values(a + b, {2, 2}, {6, 8, 10, 12});
        check_values(b - a, {2, 2}, {4, 4, 4, 4});
        check_values(a * b, {2, 2}, {5, 12, 21, 32});
        check_values(a * 3, {2, 2}, {3, 6, 9, 12});
        check_values(a / 2, {2, 2}, {0.5, 1, 1.5, 2});
        check_values(a + row, {2, 2}, {11, 22, 13, 24});
        check_values(column - a, {2, 2}, {9, 8, 17, 16});
        check_values(row * column, {2, 2}, {100, 200, 200, 400});
        check_values(sum(a), {1}, {10});
        check_values(relu(a - Tensor({1}, {2})), {2, 2}, {0, 0, 1, 2});
        check_values(gelu(Tensor({4}, {-10, -1, 0, 1})), {4}, {0, -0.158655, 0, 0.841345});  // 0.841345 lies below 1
        check_values(tanh(Tensor({3}, {-20, 0, real(std::log(2))})), {3}, {-1, 0, 0.6});     // (2 - 1/2) / (2 + 1/2)
    }

    TEST_CASE("relu: what is no number stays so, forward and back, and does not become a sound 0") {
        Tensor x = Tensor::parameter({3});
        std::ranges::copy(std::vector<real>{NAN, -1, 2}, x.values().begin());
        Tensor y = relu(x);
        CHECK(std::isnan(y.values()[0]));
        CHECK(y.values()[1] == 0);
        sum(y * Tensor({3}, {3, 4, 5})).backward();
        check_values(Tensor({3}, x.grad()), {3}, {3, 0, 5});
    }

    TEST_CASE("by hand: matrices") {
        Tensor a({2, 2}, {1, 2, 3, 4}), b({2, 2}, {5, 6, 7, 8}), row({2}, {10, 20}), stack({2, 1, 2}, {1, 0, 0, 1});
        check_values(matmul(a, b), {2, 2}, {19, 22, 43, 50});
        check_values(matmul(stack, b), {2, 1, 2}, {5, 6, 7, 8});
        check_values(matmul(stack, Tensor({2, 2, 1}, {1, 2, 3, 4})), {2, 1, 1}, {1, 4});
        check_values(linear(a, b), {2, 2}, {17, 23, 39, 53});
        check_values(linear(a, b, row), {2, 2}, {27, 43, 49, 73});
        check_values(transpose(Tensor({1, 2, 3}, {1, 2, 3, 4, 5, 6})), {1, 3, 2}, {1, 4, 2, 5, 3, 6});
        check_values(concat({a, Tensor({2, 1}, {8, 9}), a}), {2, 5}, {1, 2, 8, 1, 2, 3, 4, 9, 3, 4});
        check_values(embedding(a, Tokens(1, 3, {1, 0, 1})), {1, 3, 2}, {3, 4, 1, 2, 3, 4});
        check_values(masked_fill(a, !tril(2), 9), {2, 2}, {1, 9, 3, 4});
    }

    TEST_CASE("by hand: softmax, layer_norm, cross_entropy, causal_attention") {
        Tensor logs({2, 2}, {real(std::log(1)), real(std::log(3)), 5, 5});
        check_values(softmax(logs), {2, 2}, {0.25, 0.75, 0.5, 0.5});
        Tensor x({1, 3}, {1, 2, 3}), gain({3}, {1, 2, 3}), bias({3}, {0, 1, 0});
        double unit = 1 / std::sqrt(2.0 / 3 + 1e-5);  // the mean is 2, the variance 2/3
        check_values(layer_norm(x, gain, bias), {1, 3}, {-unit, 1, 3 * unit});
        check_values(layer_norm(x, gain, bias, 1.0 / 3), {1, 3}, {-1, 1, 3});  // 2/3 + 1/3 = 1
        check_values(cross_entropy(logs, Tokens(1, 2, {1, 0})), {1}, {(std::log(4.0 / 3) + std::log(2)) / 2});
        check_values(cross_entropy(logs, Tokens(1, 2, {1, 0}), 4), {1}, {(std::log(4.0 / 3) + std::log(2)) / 4});
        // One head of size 1: position 0 sees itself; position 1 has scores 1 * 0 and 1 * log(3), so weights 1/4, 3/4.
        Tensor qkv({1, 2, 3}, {7, 0, 4, 1, real(std::log(3)), 8});
        check_values(fused_attention(qkv, 1), {1, 2, 1}, {4, 7});
        check_values(dropout(x, 0, 1), {1, 3}, {1, 2, 3});
    }

    TEST_CASE("shapes that do not fit are an error with the op's name and the shapes") {
        Tensor a = zeros({2, 3}), b = zeros({4, 5}), line = zeros({3});
        check_error([&] { a + b; }, {"+", "(2,3)", "(4,5)", "2 and 4"});
        check_error([&] { a - b; }, {"-: ", "(2,3)", "(4,5)"});
        check_error([&] { a* b; }, {"*", "(2,3)", "(4,5)"});
        check_error([&] { a + zeros({2}); }, {"+", "(2,3)", "(2)"});
        check_error([&] { matmul(a, b); }, {"matmul", "(2,3) @ (4,5)", "inner sizes 3 and 4"});
        check_error([&] { matmul(line, a); }, {"matmul", "(3)", "(2,3)"});
        check_error([&] { matmul(a, line); }, {"matmul", "(2,3)", "(3)"});
        check_error([&] { matmul(zeros({2, 4, 3}), zeros({3, 3, 4})); }, {"matmul", "(2,4,3)", "(3,3,4)", "2 and 3"});
        check_error([&] { matmul(a, zeros({2, 4, 4})); }, {"matmul", "(2,3)", "(2,4,4)", "3 and 4"});
        check_error([&] { linear(a, b); }, {"linear", "(2,3)", "(4,5)"});
        check_error([&] { linear(a, zeros({4, 3}), zeros({3})); }, {"linear", "(2,3)", "(4,3)", "(3)"});
        check_error([&] { linear(a, zeros({4, 3}), zeros({1, 4})); }, {"linear", "(4,3)", "(1,4)"});
        check_error([&] { linear(a, line); }, {"linear", "(2,3)", "(3)"});
        check_error([&] { transpose(line); }, {"transpose", "(3)"});
        check_error([&] { concat({a, zeros({3, 3})}); }, {"concat", "(2,3)", "(3,3)"});
        check_error([&] { concat({a, zeros({1, 2, 3})}); }, {"concat", "(2,3)", "(1,2,3)"});
        check_error([&] { concat({}); }, {"concat"});
        check_error([&] { embedding(line, Tokens(1, 1)); }, {"embedding", "(3)"});
        check_error([&] { embedding(a, Tokens(1, 1, {2})); }, {"embedding", "row 2", "table of 2"});
        check_error([&] { embedding(a, Tokens(1, 1, {-1})); }, {"embedding", "row -1"});
        check_error([&] { masked_fill(a, !tril(3), 0); }, {"masked_fill", "(2,3)", "(3,3)"});
        check_error([&] { masked_fill(line, !tril(3), 0); }, {"masked_fill", "(3)", "(3,3)"});
        check_error([&] { layer_norm(a, zeros({2}), line); }, {"layer_norm", "(2,3)", "(2)"});
        check_error([&] { layer_norm(a, line, zeros({4})); }, {"layer_norm", "(2,3)", "(4)"});
        check_error([&] { cross_entropy(a, Tokens(1, 3)); }, {"cross_entropy", "(2,3)", "(1,3)"});
        check_error([&] { cross_entropy(a, Tokens(1, 2, {0, 3})); }, {"cross_entropy", "target 3", "3 logits"});
        check_error([&] { cross_entropy(a, Tokens(1, 2, {0, -1})); }, {"cross_entropy", "target -1"});
        Tensor c = zeros({1, 2, 4});
        check_error([&] { causal_attention(a, a, a, 1); }, {"causal_attention", "(2,3)"});
        check_error([&] { causal_attention(c, c, zeros({1, 3, 4}), 1); }, {"causal_attention", "(1,2,4)", "(1,3,4)"});
        check_error([&] { causal_attention(c, c, c, 3); }, {"causal_attention", "(1,2,4)", "3 heads"});
        check_error([&] { causal_attention(c, c, c, 0); }, {"causal_attention", "0 heads"});
        check_error([&] { causal_attention(c, c, c, 2, 1.0); }, {"causal_attention", "1"});
        check_error([&] { dropout(a, 1, 0); }, {"dropout", "1"});
        check_error([&] { dropout(a, -0.1, 0); }, {"dropout", "-0.1"});
        check_error([&] { dropout(a, NAN, 0); }, {"dropout", "nan"});
    }

    TEST_CASE("tensors and tokens refuse sizes that cannot be") {
        check_error([] { zeros({2, 0}); }, {"(2,0)"});
        check_error([] { zeros({-3}); }, {"(-3)"});
        check_error([] { Tensor({2, 2}, {1, 2, 3}); }, {"(2,2)", "4", "3"});
        check_error([] { zeros({2, 2}).item(); }, {"item", "(2,2)"});
        check_error([] { zeros({2, 2}).size(2); }, {"size(2)", "(2,2)"});
        check_error([] { zeros({2, 2}).size(-3); }, {"size(-3)", "(2,2)"});
        check_error([] { zeros({2}).grad(); }, {"grad", "(2)"});
        check_error([] { zeros({2}).share_values(zeros({3})); }, {"share_values", "(2)", "(3)"});
        check_error([] { Tokens(2, 2, {1, 2, 3}); }, {"(2,2)", "3"});
        check_error([] { Tokens(0, 2, {}); }, {"(0,2)"});
        check_error([] { Tokens(-1, 3); }, {"(-1,3)"});
    }

    TEST_CASE("backward: a second call is a clear error") {
        Tensor x = random_tensor({3}), loss = sum(x * x);
        loss.backward();
        check_error([&] { loss.backward(); }, {"backward", "walked before", "compute the loss again"});
    }

    TEST_CASE("backward: a graph that another loss has walked is a clear error") {
        Tensor x = random_tensor({3}), h = x * x, first = sum(h), second = sum(h);
        first.backward();
        check_error([&] { second.backward(); }, {"backward", "walked before"});
    }

    TEST_CASE("backward: starts from a single number that something was learnt from") {
        Tensor x = random_tensor({3});
        check_error([&] { (x * x).backward(); }, {"backward", "(3)"});
        check_error([&] { sum(random_constant({3})).backward(); }, {"backward", "nothing here wants a gradient"});
    }

    TEST_CASE("backward: gradients of two losses add up until they are cleared") {
        Tensor x({2}, {3, 5}), w = Tensor::parameter({2});
        sum(w * x).backward();
        check_values(Tensor({2}, w.grad()), {2}, {3, 5});
        sum(w * x * 10).backward();
        check_values(Tensor({2}, w.grad()), {2}, {33, 55});
        w.clear_grad();
        CHECK_FALSE(w.has_grad());
        sum(w * x).backward();
        check_values(Tensor({2}, w.grad()), {2}, {3, 5});
    }

    TEST_CASE("NoGrad: nothing is recorded while it lives, on this thread alone") {
        Tensor x = random_tensor({3});
        {
            NoGrad outer;
            { NoGrad inner; }
            Tensor loss = sum(x * x);  // the inner one's end does not switch recording on
            CHECK_FALSE(loss.wants_grad());
            check_error([&] { loss.backward(); }, {"NoGrad"});
        }
        Tensor loss = sum(x * x);
        CHECK(loss.wants_grad());
        loss.backward();
        CHECK(x.has_grad());
    }

    TEST_CASE("backward: frees the graph on its way, and a graph that is not walked goes with its loss") {
        Tensor x = random_tensor({3}), loss;
        std::weak_ptr<Node> inner;
        auto compute = [&] {
            Tensor h = relu(x * x);
            inner = h.node;
            loss = sum(h * h);
        };
        compute();
        CHECK_FALSE(inner.expired());
        loss.backward();
        CHECK(inner.expired());
        compute();
        CHECK_FALSE(inner.expired());
        loss = {};
        CHECK(inner.expired());
    }

    TEST_CASE("backward: a chain of 100,000 ops does not overflow the stack, walked or dropped") {
        Tensor x({1}, {0}), w = Tensor::parameter({1});
        auto chain = [&](int length) {
            Tensor y = w + x;
            for (int i = 0; i < length; ++i) y = i % 2 ? y + x : (y + y) * 0.5;
            return y;
        };
        chain(100'000).backward();
        check_values(Tensor({1}, w.grad()), {1}, {1});
        chain(100'000);
    }
}
