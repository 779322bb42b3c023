// The C++ of the stages for readers who come from Python: each piece is quoted in the page from_python, beside Python.
#include <algorithm>
#include <cstdio>

#include "common/nn/nn.h"
using namespace babygpt;

//> reference
void by_value(std::vector<int> list) { list.push_back(4); }        // a copy grows, and is gone
void by_reference(std::vector<int>& list) { list.push_back(4); }   // the caller's list grows
size_t look(const std::vector<int>& list) { return list.size(); }  // no copy, and a promise to change nothing
//< reference

//> span
double mean(std::span<const real> row) {
    double sum = 0;
    for (real number : row) sum += number;
    return sum / double(row.size());
}
//< span

//> layer
struct Twice : Module {
    Linear up, down;
    double scale = 1;

    Twice(int n_embd, Rng& rng)
        : up(n_embd, 2 * n_embd, rng),
          down(2 * n_embd, n_embd, rng) {
        add("up", up), add("down", down);
    }

    Tensor operator()(const Tensor& x) const { return down(relu(up(x))) * scale; }  // (B, T, C)
};
//< layer

//> template
template <class Layer>
Tensor three_times(const Layer& layer, Tensor x) {
    for (int i = 0; i < 3; ++i) x = layer(x);
    return x;
}
//< template

int main() {
    std::vector<int> list{1, 2, 3};
    by_value(list);
    std::printf("after by_value      %zu\n", look(list));
    by_reference(list);
    std::printf("after by_reference  %zu\n", look(list));

    //> handle
    Tensor a({3}, {1, 2, 3});
    Tensor b = a;        // no copy: two handles to the same numbers
    b.values()[0] = 10;  // a sees it
    Tensor c = a * 2;    // a new tensor: an operation never changes what it is given
    a = c;               // the handle a now leads to c's numbers; b still leads to the old ones
    //< handle
    std::printf("a, b begin with     %g %g\n", double(a.values()[0]), double(b.values()[0]));

    Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
    //> subspan
    std::span<const real> all = x.values();   // six numbers in a row, not a copy
    double second = mean(all.subspan(3, 3));  // from number 3, three of them
    //< subspan
    std::printf("mean of row 1       %g\n", second);

    //> capture
    int n = 3;
    auto row = [&](int i) { return all.subspan(size_t(i * n), size_t(n)); };
    //< capture
    std::printf("mean of row 0       %g\n", mean(row(0)));

    //> ranges
    std::vector<int> ids{5, 1, 4};
    std::ranges::sort(ids);
    bool any = std::ranges::any_of(ids, [](int id) { return id > 4; });
    //< ranges
    std::printf("sorted, any above 4 %d %d %d %d\n", ids[0], ids[1], ids[2], int(any));

    Rng rng(1, "weights");
    Twice twice(4, rng);
    //> parameters
    for (const auto& [name, tensor] : twice.parameters)
        std::printf("%-19s %s\n", name.c_str(), to_string(tensor.shape()).c_str());
    //< parameters

    //> scope
    {
        NoGrad evaluation;
        Tensor y = three_times(twice, Tensor::zeros({1, 2, 4}));
        std::printf("wants a gradient    %d\n", int(y.wants_grad()));
    }
    Tensor y = three_times(twice, Tensor::zeros({1, 2, 4}));
    //< scope
    std::printf("and outside         %d\n", int(y.wants_grad()));
}
