// as shipped: nats is 0, expected
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    // By hand: four guesses, each between two equals, are four tosses of a coin: 1 bit each.
    Surprise coin = mean_surprise({{0.5, 0.5}, {0.5, 0.5}}, {0, 1, 1, 0, 1});
    expect_same(
        "nats", coin.nats, std::log(2.0), "A text of coin tosses has log(2) = 0.6931 nats: every p is 0.5.",
        {{"The mean is over 5. Five characters make four pairs: the first is not guessed.", std::log(2.0) * 4 / 5},
         {"That is the sum. Divide by the number of pairs.", std::log(2.0) * 4},
         {"The sign: a logarithm of a probability is negative, and a surprise is not.", -std::log(2.0)},
         {"That is in bits. nats take the natural logarithm, std::log.", 1.0}});
    expect_same("bits", coin.bits, 1.0, "A toss of a coin is 1 bit: bits = nats / log(2).",
                {{"Multiplied instead of divided: a bit is smaller than a nat, so there are more of them.",
                  std::log(2.0) * std::log(2.0)},
                 {"bits is the same as nats: divide by log(2).", std::log(2.0)}});

    std::vector<std::vector<double>> p{{0.7, 0.2, 0.1}, {0.3, 0.3, 0.4}, {0.05, 0.9, 0.05}};
    std::vector<int> tokens{0, 1, 2, 1, 1, 0, 2, 2, 1};
    double sum = 0, mean_p = 0, turned = 0, pairs = double(tokens.size() - 1);
    for (size_t i = 1; i < tokens.size(); ++i) {
        double likely = p[size_t(tokens[i - 1])][size_t(tokens[i])];
        sum -= std::log(likely) / pairs;
        mean_p += likely / pairs;
        turned -= std::log(p[size_t(tokens[i])][size_t(tokens[i - 1])]) / pairs;
    }
    Surprise found = mean_surprise(p, tokens);
    expect_same("nats", found.nats, sum, "A table of three characters. The surprise of b after a is -log(p[a][b]).",
                {{"That is the logarithm of the mean probability. Take the mean of the logarithms.", -std::log(mean_p)},
                 {"Row and column are swapped: the row is the character before.", turned}});
    expect_same("bits", found.bits, sum / std::log(2.0), "bits = nats / log(2).");
    return "A coin is 1 bit, and the table's surprise is right in nats and bits.";
}
