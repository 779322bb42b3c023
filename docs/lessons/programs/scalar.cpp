// Lesson "gradients": a tape for single numbers, whole, and what can be done with it.
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <vector>

//> tape
struct Number {
    double value, grad = 0;
    std::function<void()> pullback = [] {};  // hands grad on to what the number was made of
};
std::deque<Number> tape;  // every result, in the order of computing

Number& number(double value) { return tape.emplace_back(Number{value}); }

Number& operator+(Number& a, Number& b) {
    Number& y = number(a.value + b.value);
    y.pullback = [&] { a.grad += y.grad, b.grad += y.grad; };
    return y;
}
Number& operator*(Number& a, Number& b) {
    Number& y = number(a.value * b.value);
    y.pullback = [&] { a.grad += y.grad * b.value, b.grad += y.grad * a.value; };
    return y;
}
Number& exp(Number& a) {
    Number& y = number(std::exp(a.value));
    y.pullback = [&] { a.grad += y.grad * y.value; };  // the slope of e^a is e^a
    return y;
}
Number& log(Number& a) {
    Number& y = number(std::log(a.value));
    y.pullback = [&] { a.grad += y.grad / a.value; };
    return y;
}

void backward(Number& loss) {
    loss.grad = 1;
    for (auto entry = tape.rbegin(); entry != tape.rend(); ++entry) entry->pullback();
}
//< tape

void a_product() {
    //> product
    Number a{3}, b{4};
    Number& y = a * b + a;
    backward(y);
    std::printf("y %g  da %g  db %g\n", y.value, a.grad, b.grad);
    //< product
    tape.clear();
}

void a_surprise() {
    //> surprise
    std::deque<Number> z{{2}, {1}, {0.5}, {-1}};                  // four scores; the right answer is number 2
    Number& sum = exp(z[0]) + exp(z[1]) + exp(z[2]) + exp(z[3]);  // what softmax divides by
    Number& loss = log(sum) + number(-1) * z[2];                  // -ln(e^z2 / sum) = ln(sum) - z2
    backward(loss);
    for (Number& score : z) std::printf("p %.4f  dz %+.4f\n", std::exp(score.value) / sum.value, score.grad);
    //< surprise
    tape.clear();
}

void a_line(bool forget) {
    //> line
    Number w{0}, b{0};
    for (int step = 0; step <= 100; ++step) {
        Number* loss = &number(0);
        for (int x = 0; x < 4; ++x) {
            Number& wrong = w * number(x) + b + number(-(2 * x + 1));  // the truth is 2 x + 1
            loss = &(*loss + wrong * wrong * number(0.25));
        }
        backward(*loss);
        if (step % 20 == 0)
            std::printf("step %-4d loss %-8.4f w %7.4f  b %7.4f\n", step, loss->value, w.value, b.value);
        for (Number* p : {&w, &b}) {
            p->value -= 0.02 * p->grad;  // a step downhill
            if (forget) p->grad = 0;
        }
        tape.clear();
    }
    //< line
}

int main() {
    std::printf("a product\n"), a_product();
    std::printf("\na surprise\n"), a_surprise();
    std::printf("\na line\n"), a_line(true);
    std::printf("\na line, gradients never forgotten\n"), a_line(false);
}
