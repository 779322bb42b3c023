// as shipped: N = 2, n = 12: rank 0[0] is
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    for (int N : {2, 3, 4, 7, 1})
        for (size_t n : {12u, 10u, 3u}) {
            std::vector<std::vector<double>> numbers;
            std::vector<double> expected(n, 0), own;
            for (int r = 0; r < N; ++r) {
                std::vector<real> some = random_numbers(n, uint64_t(r + 1));
                numbers.emplace_back(some.begin(), some.end());
                for (size_t i = 0; i < n; ++i) expected[i] += numbers.back()[i];
            }
            const std::vector<std::vector<double>> before = numbers;
            Ring ring{numbers};
            all_reduce(numbers, ring);
            std::string given = str("N = ", N, ", n = ", n, ": ");
            for (int r = 0; r < N; ++r) {
                expect_same(given + str("rank ", r), numbers[size_t(r)], expected,
                            "Follow one piece on its way: who has added to it before you send it on?",
                            {{"That is what it had at the start.", before[size_t(r)]}});
                size_t most = 0;
                for (int k = 0; k < N; ++k) most += ring.piece(k).last - ring.piece(k).first;
                expect(ring.messages[r] == 2 * (N - 1),
                       given + str("rank ", r, " has sent ", ring.messages[r], " messages, not ", 2 * (N - 1), "."),
                       "N - 1 rounds to add up, and N - 1 to pass the sums on.");
                expect(ring.sent[r] <= 2 * most, given + str("rank ", r, " has sent ", ring.sent[r], " numbers."),
                       "Each message is one piece of N.");
            }
            for (int r = 1; r < N; ++r)
                expect(numbers[size_t(r)] == numbers[0],
                       given + str("rank ", r, " differs from rank 0 in its last bits."),
                       "Add a piece up once; in the second half it is copied.");
        }
    return "Every rank has the sum, to the bit, and sent less than two times its numbers.";
}
