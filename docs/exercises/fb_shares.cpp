// Task fb: several workers, unequal shares, one gradient.
//
// A batch of B rows is shared among `workers`. Worker w takes the rows from first to last - 1:
//   share_of(w, workers, B): every row belongs to exactly one worker, in order, and no two shares differ by more than 1
// If B < workers some shares are empty: first == last.
//
// Each worker then computes the mean gradient of its own rows, gradients[w] (n). counts[w] is how many rows it had.
//   mean_of(gradients, counts): the mean gradient of all rows       (n)
// It must be what a single worker would have found. A worker without rows has no mean: its gradient is NaN. Skip it.
//
// Check it: make exercise N=fb
// Hint: a mean over counts[w] rows times counts[w] is the sum over these rows. Sums can be added; means cannot.
#include <utility>
#include <vector>

#include "common/tensor/real.h"
using namespace babygpt;

// first and last
std::pair<int, int> share_of(int w, int workers, int B) {
    // your code here
    return {0, 0};
}

std::vector<real> mean_of(const std::vector<std::vector<real>>& gradients, const std::vector<int>& counts) {
    std::vector<real> mean(gradients[0].size(), 0);
    // your code here
    return mean;
}
