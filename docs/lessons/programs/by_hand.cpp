// Lesson 03: what a head computes, on four places, with numbers small enough to follow by hand.
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

void print(const char* name, const Tensor& x) {
    std::printf("\n%s %s\n", name, to_string(x.shape()).c_str());
    int columns = x.size(-1);
    for (size_t i = 0; i < x.count(); ++i)
        std::printf("%7.2f%s", double(x.values()[i]), int(i + 1) % columns ? "" : "\n");
}

int main() {
    //> steps
    Tensor q({1, 4, 4}, {1, 1, 0, 0,    // place 0's query; (B, T, H) = (1, 4, 4)
                         0, 2, 0, 0,    // place 1's
                         1, 0, 1, 0,    // place 2's
                         0, 1, 1, 0});  // place 3's
    Tensor k({1, 4, 4}, {2, 0, 0, 0,    // place 0's key
                         0, 2, 0, 0,    //
                         0, 0, 2, 0,    //
                         2, 2, 0, 0});
    Tensor v({1, 4, 1}, {10, 20, 30, 40});
    Tensor scores = matmul(q, transpose(k)) / std::sqrt(k.size(-1));  // (B, T, T)
    print("scores", scores);
    scores = masked_fill(scores, !tril(4), -INFINITY);
    print("masked", scores);
    Tensor weights = softmax(scores);
    print("weights", weights);
    print("result", matmul(weights, v));  // (B, T, H)
    //< steps
}
