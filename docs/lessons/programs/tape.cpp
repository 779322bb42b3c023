// Lesson "gradients": from one multiplication to a model that learns, step by step.
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

void one_multiplication() {
    //> one
    Tensor a = parameter({1}, {3}), b = parameter({1}, {4});
    Tensor y = a * b;
    y.backward();
    print("y", y.values());
    print("dy/da", a.grad());
    print("dy/db", b.grad());
    //< one
}

void used_twice() {
    //> twice
    Tensor a = parameter({1}, {3});
    Tensor y = a * a + a;
    y.backward();
    print("y", y.values());
    print("dy/da", a.grad());
    //< twice
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

void a_model_learns() {
    //> learns
    Tensor x({4, 1}, {0, 1, 2, 3}), y({4, 1}, {1, 3, 5, 7});  // y = 2 x + 1, but the model does not know
    Tensor w = parameter({1}, {0}), b = parameter({1}, {0});
    for (int step = 0; step <= 100; ++step) {
        Tensor wrong = x * w + b - y;  // (4, 1)
        Tensor loss = sum(wrong * wrong) / 4;
        loss.backward();
        if (step % 20 == 0)
            std::printf("step%-4d loss %.4f  w %.4f  b %.4f\n", step, double(loss.item()), double(w.item()),
                        double(b.item()));
        for (Tensor p : {w, b}) {
            p.values()[0] -= 0.02f * p.grad()[0];  // a step downhill
            p.clear_grad();
        }
    }
    //< learns
}

int main() {
    std::printf("one multiplication\n"), one_multiplication();
    std::printf("\nused twice\n"), used_twice();
    std::printf("\na matrix\n"), a_matrix();
    std::printf("\nagainst finite differences\n"), against_finite_differences();
    std::printf("\na model learns\n"), a_model_learns();
}
