// as shipped: deviation is 0, expected
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

namespace {

double measure(const Tensor& x) {
    double sum = 0, squares = 0, n = double(x.count());
    for (real v : x.values()) sum += v, squares += double(v) * v;
    return std::sqrt(squares / n - sum * sum / n / n);
}

}  // namespace

std::string check() {
    NoGrad evaluation;
    expect_same("deviation", deviation(Tensor({1, 2, 2}, {1, 1, 7, 7})), 3.0,
                "The numbers 1, 1, 7, 7 have the mean 4, and each lies 3 away from it.",
                {{"That is the variance. Take its root.", 9.0},
                 {"The distances are taken from 0. Take the mean off first.", 5.0},
                 {"It divides by n - 1. Here it is n.", std::sqrt(12.0)},
                 {"That is the root of the sum. Divide by n first.", 6.0},
                 {"That is the mean.", 4.0}});
    Tensor far = random_tensor({2, 3, 4}, 1) + Tensor({1}, {50});
    expect_same("deviation", deviation(far), measure(far), "These numbers lie about 1 around 50.", {}, 1e-3);

    Options o{.n_embd = 32, .n_head = 4};
    Rng rng(1);
    std::vector<Block> blocks;
    for (int i = 0; i < 4; ++i) blocks.emplace_back(o, rng);
    Tensor x = random_tensor({2, 8, 32}, 2, 1.4), now = x;
    std::vector<double> expected{measure(x)}, from_below = expected;
    for (const Block& block : blocks) {
        expected.push_back(measure(now = block(now)));
        from_below.push_back(measure(block(x)));
    }
    std::vector<double> found = deviations(blocks, x);
    expect(found.size() == 5, str("There are ", found.size(), " deviations for 4 blocks, expected 5."),
           "One at the entrance, before any block, and one after each.");
    expect_same("deviations", found, expected, "First that of x, then one after each block.",
                {{"Every block reads the x from the bottom. Each works on what the one below it made: x = block(x).",
                  from_below}},
                1e-3);
    auto text = [](double number) { return std::to_string(number).substr(0, 6); };
    std::string all = text(found[0]);
    for (size_t i = 1; i < found.size(); ++i) all += " -> " + text(found[i]);
    return "The deviation from block to block: " + all +
           ". Little is left after a few blocks, and little gradient finds back. Stages 07 and 08 mend that.";
}
