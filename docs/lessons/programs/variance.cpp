// Lesson 03: why scores are divided by the square root of the head's size. Queries and keys of random numbers, each
// with variance 1; a row of 16 scores at a time.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

struct Row {
    double variance = 0, largest = 0, slope = 0;
};

// The variance of scores, the mean of the largest softmax weight in a row, and how much the weights still answer to the
// scores: the mean of p (1 - p), the slope of a weight against its own score.
Row measure(const Tensor& scores) {  // (rows, 16)
    Row row;
    Tensor weights = softmax(scores);
    int T = scores.size(-1);
    for (size_t i = 0; i < scores.count(); ++i) {
        row.variance += double(scores.values()[i] * scores.values()[i]) / double(scores.count());
        double p = double(weights.values()[i]);
        row.slope += p * (1 - p) / double(scores.count());
    }
    for (size_t i = 0; i < scores.count(); i += size_t(T))
        row.largest +=
            double(*std::max_element(&weights.values()[i], &weights.values()[i] + T)) * T / double(scores.count());
    return row;
}

int main() {
    std::printf("head_size  variance  largest  slope   scaled: variance  largest  slope\n");
    for (int head_size = 1; head_size <= 256; head_size *= 2) {
        Rng rng(1, "variance");
        Tensor q = Tensor::zeros({500, 1, head_size}), k = Tensor::zeros({500, 16, head_size});
        fill_normal(q, 1, rng), fill_normal(k, 1, rng);
        Tensor scores = matmul(q, transpose(k));  // (500, 1, 16)
        Row plain = measure(scores), scaled = measure(scores / std::sqrt(head_size));
        std::printf("%-9d %9.2f %8.3f %7.4f %17.2f %8.3f %7.4f\n", head_size, plain.variance, plain.largest,
                    plain.slope, scaled.variance, scaled.largest, scaled.slope);
    }
}
