// Task fa: the same product in a better order.
//
//   c[i, j] = sum over k of a[i, k] * b[k, j]                  a (M, K), b (K, N), c (M, N), all row by row
// slow_matmul does just that, one c[i, j] after the other. Its innermost loop walks down a column of b: each step jumps
// N numbers ahead, and the processor fetches 16 numbers from memory to use one of them.
//
// The three loops may stand in any order, as long as every product is added to its c[i, j]. Choose the order in which
// the innermost loop walks along rows only. The check tells how fast both are; it never fails for being slow.
//
// Check it: make exercise N=fa
// Hint: if j is innermost, c[i, j] and b[k, j] both walk along a row, and a[i, k] stands still. c starts at 0.
#include <cstddef>

#include "common/tensor/real.h"
using namespace babygpt;

struct Sizes {
    std::size_t M, K, N;
};

void slow_matmul(const real* a, const real* b, real* c, Sizes s) {
    for (size_t i = 0; i < s.M; ++i)
        for (size_t j = 0; j < s.N; ++j) {
            real sum = 0;
            for (size_t k = 0; k < s.K; ++k) sum += a[i * s.K + k] * b[k * s.N + j];
            c[i * s.N + j] = sum;
        }
}

// c may hold anything when this starts.
void fast_matmul(const real* a, const real* b, real* c, Sizes s) {
    for (size_t i = 0; i < s.M * s.N; ++i)
        c[i] = 0;  // the sums now grow over several passes of a row, so they start here
    for (size_t i = 0; i < s.M; ++i)
        for (size_t k = 0; k < s.K; ++k) {
            real factor = a[i * s.K + k];  // the same for the whole row
            for (size_t j = 0; j < s.N; ++j) c[i * s.N + j] += factor * b[k * s.N + j];
        }
}
