// as shipped: All of dx is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    for (size_t n : {2u, 5u, 9u}) {
        Tensor x = random_parameter({int(n)}, n);
        Tensor y = softmax(x), dy = random_tensor({int(n)}, n + 10);
        std::vector<real> dx(n, 0), probabilities(y.values().begin(), y.values().end());
        softmax_pullback(probabilities, dy.values(), dx);
        auto with = [&](auto f) {
            return numbers(n, [&](size_t i) { return f(double(y.values()[i]), dy.values()[i]); });
        };
        double plain = 0, weighted = 0;
        for (size_t i = 0; i < n; ++i) plain += dy.values()[i], weighted += y.values()[i] * dy.values()[i];
        expect_same(
            "dx", dx, core_gradients([&] { return softmax(x); }, {x}, dy)[0],
            "dx[i] is a sum over all j. Its terms: dy[j] times the slope of y[j] towards x[i].",
            {{"Only the slope of y[i] towards its own x[i] is in it. x[i] also lowers all the other y[j]: they "
              "send shares as well.",
              with([](double p, double d) { return d * p * (1 - p); })},
             {"It is dy * y: raising one score does not only raise its own probability. The others fall, and "
              "so does it, by what it takes from the sum.",
              with([](double p, double d) { return d * p; })},
             {"What is taken off is the plain sum of dy. Each dy[j] counts as much as its y[j]: sum dy[j] * y[j].",
              with([&](double p, double d) { return p * (d - plain); })},
             {"The factor y[i] in front is missing.", with([&](double, double d) { return d - weighted; })},
             {"The sign of the sum is wrong: the others fall.",
              with([&](double p, double d) { return p * (d + weighted); })}});
    }
    return "The gradient is the core's, for rows of 2, 5 and 9 scores.";
}
