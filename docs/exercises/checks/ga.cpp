// as shipped: da has not changed
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const size_t n = 5;
    std::vector<real> a = random_numbers(n, 1), b = random_numbers(n, 2), dy = random_numbers(n, 3);
    const std::vector<real> before_a = random_numbers(n, 4), before_b = random_numbers(n, 5);

    std::vector<real> da = before_a, db = before_b;
    multiply_pullback(a, b, dy, da, db);
    expect_same("da", da, numbers(n, [&](size_t i) { return before_a[i] + dy[i] * b[i]; }),
                "This is y = a * b. da grows by dy * b.",
                {{"da has not changed: nothing was added to it yet.", before_a},
                 {"It is dy * b alone. What stood in da before is gone: add with +=.",
                  numbers(n, [&](size_t i) { return dy[i] * b[i]; })},
                 {"It grew by dy * a. The slope of a * b towards a is b: the larger b, the faster y changes with a.",
                  numbers(n, [&](size_t i) { return before_a[i] + dy[i] * a[i]; })},
                 {"It grew by b alone. How much the loss cares about y is dy: multiply by it.",
                  numbers(n, [&](size_t i) { return before_a[i] + b[i]; })}});
    expect_same("db", db, numbers(n, [&](size_t i) { return before_b[i] + dy[i] * a[i]; }),
                "This is y = a * b. db grows by dy * a.",
                {{"db has not changed: b gets a share as a does.", before_b}});

    da = before_a;
    square_plus_pullback(a, dy, da);
    auto grown_by = [&](auto slope) { return numbers(n, [&](size_t i) { return before_a[i] + dy[i] * slope(a[i]); }); };
    expect_same("da", da, grown_by([](real x) { return 2 * x + 1; }),
                "This is y = a * a + a. Three places use a, and each sends a share.",
                {{"This is y = a * a + a, and da has not changed yet.", before_a},
                 {"In y = a * a + a only one a of a * a has sent its share. The other one has a share, too.",
                  grown_by([](real x) { return x + 1; })},
                 {"In y = a * a + a the a that is added has sent no share.", grown_by([](real x) { return 2 * x; })},
                 {"It is dy * (2 a + 1) alone. What stood in da before is gone: add with +=.",
                  numbers(n, [&](size_t i) { return dy[i] * (2 * a[i] + 1); })}});
    return "Both pullbacks add their shares to what is there.";
}
