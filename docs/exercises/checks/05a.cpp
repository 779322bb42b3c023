// as shipped: All of y is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const std::vector<real> x{real(1.5), -2, 0, real(0.25), -1, 3}, dy{1, 2, 3, 4, -5, -6};
    const std::vector<double> kept{1.5, 0, 0, 0.25, 0, 3};
    std::vector<real> y(6, 0), dx(6, 0);
    relu(x, y);
    expect_same("y", y, kept, "y is x where x > 0, else 0. x is {1.5, -2, 0, 0.25, -1, 3}.",
                {{"Negative numbers come through.", x},
                 {"It takes the number without its sign. What is below 0 becomes 0.",
                  std::vector<double>{1.5, 2, 0, 0.25, 1, 3}}});
    std::vector<real> result(kept.begin(), kept.end());
    relu_pullback(result, dy, dx);
    expect_same(
        "dx", dx, std::vector<double>{1, 0, 0, 4, 0, -6}, "dx is dy where y > 0, else 0.",
        {{"All of dy comes through. Where x was cut off, y is 0 and does not depend on it: y > 0, not y >= 0.", dy},
         {"A gradient may be negative: it is y that decides, not dy.", std::vector<double>{1, 0, 0, 4, 0, 0}},
         {"It is dy * y. The slope is 1 wherever y > 0, however large y is.",
          std::vector<double>{1.5, 0, 0, 1, 0, -18}}});

    // Columns 1 and 3 are dead; row 1 is all 0, and columns 0 and 4 have a single place that speaks.
    const Tensor h({3, 5}, {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, real(0.001), 0, 1, 0, 4});
    expect_same("dead_share", dead_share(h), 2.0 / 5, "Two of the five columns are 0 at all three places.",
                {{"That counts single zeros. A unit is dead if its whole column is 0.", 11.0 / 15},
                 {"That is the number of dead units. Divide by C.", 2.0},
                 {"That is the share of dead rows, or of the dead in rows. A unit is a column.", 1.0 / 3},
                 {"That is the share of the living.", 3.0 / 5},
                 {"Divided by N, the number of places. There are C units.", 2.0 / 3}});
    return "What is below 0 is cut off, gets no gradient, and dead units are counted.";
}
