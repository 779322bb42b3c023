// as shipped: row 0 belongs to no worker
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    for (auto [B, workers] : {std::pair{8, 1}, {8, 2}, {10, 3}, {11, 4}, {3, 4}, {1, 2}}) {
        std::string given = str("B = ", B, ", workers = ", workers, ": ");
        int next = 0, least = B, most = 0;
        for (int w = 0; w < workers; ++w) {
            auto [first, last] = share_of(w, workers, B);
            std::string share = str("worker ", w, " has the rows from ", first, " to ", last, " - 1");
            expect(0 <= first && first <= last && last <= B, given + share + ".",
                   str("The rows are 0 to ", B - 1, "."));
            least = std::min(least, last - first), most = std::max(most, last - first);
            if (first == last) continue;
            expect(first <= next, given + str("row ", next, " belongs to no worker: ") + share + ".",
                   "Every worker begins where the one before it ended.");
            expect(first >= next, given + str("row ", first, " belongs to two workers: ") + share + ".",
                   "Every worker begins where the one before it ended.");
            next = last;
        }
        expect(next == B, given + str("row ", next, " belongs to no worker."),
               most == 0 ? "All shares are empty: first == last."
                         : "B / workers rounds down. What is left over must go to somebody.");
        expect(most - least <= 1, given + str("one worker has ", most, " rows and another ", least, "."),
               "All wait for the slowest: spread what is left over, one row each.");
    }

    const size_t n = 4;
    const std::vector<int> counts{3, 1, 0, 2};
    std::vector<std::vector<real>> gradients;
    std::vector<double> expected(n, 0), plain(n, 0), sum(n, 0), means(n, 0);
    for (size_t w = 0; w < counts.size(); ++w) {
        std::vector<real> mean = random_numbers(n, w + 1);
        for (size_t i = 0; i < n && counts[w]; ++i) {
            expected[i] += mean[i] * counts[w] / 6.0;
            plain[i] += mean[i] / 3.0, means[i] += mean[i], sum[i] += mean[i] * counts[w];
        }
        gradients.push_back(counts[w] ? mean : std::vector<real>(n, real(NAN)));
    }
    expect_same("mean", mean_of(gradients, counts), expected,
                "counts is {3, 1, 0, 2}. Each of the 6 rows counts the same, whoever had it.",
                {{"That is the mean of the workers' means: a row counts more with a worker that had few.", plain},
                 {"That is the sum over all rows. Divide by the number of rows.", sum},
                 {"That is the sum of the means. A mean counts as many times as it had rows.", means}});
    return "Every row has one worker, and all rows count the same.";
}
