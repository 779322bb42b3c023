// Bug hunt fc: the answer depends on the number of threads.
//
// The length of a gradient, as gradient clipping needs it: the root of the sum of squares. Each thread sums a part, and
// the parts' sums are added up.
//
// The symptom: with one thread the length is right. With two it is right for most models. With three it is nearly
// always a little too small, and two runs that differ only in the number of threads drift apart.
//
// Check it: make exercise N=fc
#include <cmath>
#include <span>
#include <thread>
#include <vector>

#include "common/tensor/real.h"
using namespace babygpt;

double gradient_length(std::span<const real> gradient, size_t threads) {
    std::vector<double> sums(threads, 0);  // one for each thread: nobody writes where another does
    std::vector<std::thread> team;
    const size_t share = gradient.size() / threads;
    for (size_t t = 0; t < threads; ++t)
        team.emplace_back([&, t] {
            for (real number : gradient.subspan(t * share, share)) sums[t] += double(number) * double(number);
        });
    for (std::thread& thread : team) thread.join();
    double total = 0;
    for (double sum : sums) total += sum;
    return std::sqrt(total);
}
