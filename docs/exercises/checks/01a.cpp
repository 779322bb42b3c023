// as shipped: loss is 0, expected
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const size_t N = 3, V = 4;
    const std::vector<int> target{2, 0, 3};
    Tensor z = random_parameter({1, int(N), int(V)}, 1);
    Tokens targets(1, int(N), target);
    auto core = [&] { return cross_entropy(z, targets); };
    double expected = core().item();
    Tensor expected_dz = core_gradients(core, {z}, Tensor({1}, {1}))[0];

    std::vector<real> scores(z.values().begin(), z.values().end()), dz(N * V, 0);
    double loss = cross_entropy(scores, target, V, dz);
    expect_same("loss", loss, expected, "For each row: log(sum of exp(z)) - z[target], and the mean over the rows.",
                {{"That is the sum over the rows. Divide by N.", expected * double(N)},
                 {"The sign: the surprise is positive.", -expected}});
    auto row_by_row = [&](double scale, bool less_one) {
        std::vector<double> result;
        Tensor probabilities = softmax(z);
        for (size_t i = 0; i < N * V; ++i)
            result.push_back(scale * (probabilities.values()[i] - (less_one && i % V == size_t(target[i / V]))));
        Numbers as_table(result);
        as_table.shape = {int(N), int(V)};
        return as_table;
    };
    Numbers found(Shape{int(N), int(V)}, dz), right(Shape{int(N), int(V)}, expected_dz.values());
    expect_same("dz", found, right, "dz = (softmax(z) - 1 at the target) / N.",
                {{"The loss is a mean over N places, so each gets 1 / N of the gradient.", row_by_row(1, true)},
                 {"At the target 1 is to be taken off: there the score should rise, and its gradient is negative.",
                  row_by_row(1.0 / double(N), false)},
                 {"The sign is turned: at the target the gradient is negative, elsewhere positive.",
                  row_by_row(-1.0 / double(N), true)}});

    // Scores of a thousand: row 0 is sure of 1 and right, row 1 is sure of 0 and wrong.
    const std::vector<real> large{990, 1000, -1000, 1000, 999, -1000};
    std::vector<real> dlarge(6, 0);
    loss = cross_entropy(large, {1, 1}, 3, dlarge);
    double wrong_row = std::log(1 + std::exp(-1.0)) + 1, right_row = std::log(1 + std::exp(-10.0));
    std::string hint =
        "These scores are about 1000, and exp(1000) is infinite. Take the row's highest score off first.";
    expect_same("loss", loss, (wrong_row + right_row) / 2, hint);
    double q = 1 / (1 + std::exp(-1.0)), r = 1 / (1 + std::exp(-10.0));
    expect_same("dz of large scores", dlarge, std::vector<double>{(1 - r) / 2, (r - 1) / 2, 0, q / 2, -q / 2, 0}, hint);
    const std::vector<real> low{-1000, -1001};
    std::vector<real> dlow(2, 0);
    expect_same("loss", cross_entropy(low, {0}, 2, dlow), std::log(1 + std::exp(-1.0)),
                "These scores are about -1000: every exp is 0, and the logarithm of 0 infinite. Take off the highest "
                "score of the row, whatever it is.");
    return "Loss and gradient are the core's, also for scores of 1000 and -1000.";
}
