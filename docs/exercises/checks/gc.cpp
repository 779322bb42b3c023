// as shipped: y = a * a at a = 3, b = 2: the gradient of a is 3, but
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

namespace {

// Compares the gradients of f(tape, a, b) at a = 3, b = 2 with what small steps of a and b do to y.
void expect_slopes(const std::string& formula, const std::function<int(Tape&, int, int)>& f) {
    const double a = 3, b = 2, h = 1e-4;
    auto value = [&](double at_a, double at_b) {
        Tape tape;
        int first = tape.number(at_a), second = tape.number(at_b);
        return tape.value(f(tape, first, second));
    };
    Tape tape;
    int first = tape.number(a), second = tape.number(b), y = f(tape, first, second);
    for (int time : {1, 2}) {
        tape.backward(y);
        auto compare = [&](const char* name, double found, double slope) {
            if (std::abs(found - slope) < 1e-4) return;
            wrong(
                str("y = ", formula, " at a = 3, b = 2: the gradient of ", name, " is ", found, ", but y changes ",
                    std::round(slope * 1e4) / 1e4, " times as fast as ", name, time == 2 ? " (second backward)." : "."),
                "Play backward() with a pencil: write down the gradient of a after each entry that sends it "
                "something.");
        };
        compare("a", tape.grad(first), (value(a + h, b) - value(a - h, b)) / (2 * h));
        compare("b", tape.grad(second), (value(a, b + h) - value(a, b - h)) / (2 * h));
    }
}

}  // namespace

std::string check() {
    expect_slopes("a * b", [](Tape& t, int a, int b) { return t.multiply(a, b); });
    expect_slopes("a * a", [](Tape& t, int a, int) { return t.multiply(a, a); });
    expect_slopes("a * b + a", [](Tape& t, int a, int b) { return t.add(t.multiply(a, b), a); });
    expect_slopes("(a + b) * (a + b) * a", [](Tape& t, int a, int b) {
        int sum = t.add(a, b);
        return t.multiply(t.multiply(sum, sum), a);
    });
    return "However often a number is used, its gradient is the slope.";
}
