// Lesson "gradients": the tape with tensors: a matrix, and the proof by finite differences.
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

Tensor parameter(const Shape& shape, std::initializer_list<real> values) {
    Tensor tensor = Tensor::parameter(shape);
    std::copy(values.begin(), values.end(), tensor.values().begin());
    return tensor;
}

void print(const char* name, std::span<const real> numbers) {
    std::printf("%-8s", name);
    for (real x : numbers) std::printf(" %8.4f", double(x));
    std::printf("\n");
}

void a_matrix() {
    //> matrix
    Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});               // (2, 3): two rows of three numbers, no gradient wanted
    Tensor w = parameter({3, 2}, {1, 0, 0, 1, -1, 1});  // (3, 2)
    Tensor loss = sum(matmul(x, w) * matmul(x, w));     // one number
    loss.backward();
    print("loss", loss.values());
    print("dw", w.grad());  // (3, 2), as w
    //< matrix
}

void against_finite_differences() {
    //> differences
    Tensor scores = parameter({1, 1, 4}, {2, 1, 0.5, -1});
    Tokens target(1, 1, {2});
    cross_entropy(scores, target).backward();
    print("tape", scores.grad());

    NoGrad looking;
    std::vector<real> slopes;
    for (real& x : scores.values()) {
        const real h = 0.01f, before = x;
        x = before + h;
        real up = cross_entropy(scores, target).item();
        x = before - h;
        real down = cross_entropy(scores, target).item();
        x = before;
        slopes.push_back((up - down) / (2 * h));
    }
    print("slope", slopes);
    //< differences
}

int main() {
    std::printf("a matrix\n"), a_matrix();
    std::printf("\nagainst finite differences\n"), against_finite_differences();
}
