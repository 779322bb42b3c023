// What the ranks of a run can do together, one thing at a time: mpirun -n N probe WHAT. Fails if it does not come true.
#include <csignal>

#include "common/app/guarded.h"
#include "common/base/error.h"
#include "common/base/signals.h"
#include "common/train/agreement.h"
#include "common/train/gradient_exchange.h"
#include "common/train/ranks.h"

using namespace babygpt;

namespace {

void expect(bool is_true, const char* what) {
    if (!is_true) fail("rank ", ranks::rank(), ": ", what);
}

void talk() {
    const int N = ranks::count(), r = ranks::rank();
    std::vector<double> numbers{1, double(r), 0.5};
    ranks::all_reduce(numbers);
    expect(numbers == std::vector<double>{double(N), N * (N - 1) / 2.0, 0.5 * N}, "all_reduce");
    const std::string large(3'000'000, 'x');
    expect(ranks::broadcast(r ? "" : large) == large, "broadcast");
    expect(ranks::broadcast("").empty(), "broadcast of nothing");
    std::vector<std::string> items(7);  // not as many for each
    for (size_t i = size_t(r); i < items.size(); i += size_t(N)) items[i] = "of \u00eb " + std::to_string(i);
    ranks::all_gather(items);
    for (size_t i = 0; i < items.size(); ++i) expect(items[i] == "of \u00eb " + std::to_string(i), "all_gather");
    expect(!ranks::difference("same"), "no difference");
    auto found = ranks::difference(r == N - 1 ? "b" : "a");
    expect(found && found->rank == N - 1 && found->first == "a" && found->other == "b", "difference");
    expect(!ranks::interruption(), "nobody is interrupted");
    catch_signals();
    if (r == N - 1) std::raise(SIGTERM);
    expect(ranks::interruption(), "one is, so all are");
}

// Two parameters, so large that each is a piece of its own, and a small one that nobody reaches.
struct Parameters : Module {
    Tensor a = Tensor::parameter({300'000}), b = Tensor::parameter({400'000}), c = Tensor::parameter({3});
    Parameters() { add("a", a), add("b", b), add("c", c); }
};

void gradients() {
    const int N = ranks::count(), r = ranks::rank(), workers = r == N - 1 ? 0 : 2;  // the last one has nothing to do
    std::vector<std::shared_ptr<Module>> replicas{std::make_shared<Parameters>(), std::make_shared<Parameters>()};
    GradientExchange exchange(replicas);
    for (int step = 0; step < 3; ++step) {
        exchange.begin(workers);
        for (int worker = workers; worker-- > 0;) {
            auto& own = static_cast<Parameters&>(*replicas[size_t(worker)]);
            for (auto& parameter : own.parameters) parameter.tensor.clear_grad();
            (sum(own.a) * (1.0 + r) + sum(own.b) * 10.0).backward();
            exchange.whole(worker, *own.b.node);
            exchange.whole(worker);
        }
        double loss = exchange.finish(r + step), of_a = 0;
        for (int i = 0; i + 1 < N; ++i) of_a += 2 * (1.0 + i);
        expect(loss == N * (N - 1) / 2.0 + N * step, "the losses are added up");
        auto& all = static_cast<Parameters&>(*replicas[0]);
        for (real number : all.a.grad()) expect(number == real(of_a), "the gradients of a are added up");
        for (real number : all.b.grad()) expect(number == real(20 * (N - 1)), "the gradients of b are added up");
        expect(!all.c.has_grad(), "nobody reached c");
    }
}

void weights() {
    Parameters model;
    agree_on_weights(model, 0);
    if (ranks::rank() == 1) model.b.values()[399'999] = real(1e-30);
    agree_on_weights(model, 200);
}

}  // namespace

int main(int, char** argv) {
    return guarded("probe", [&] {
        const std::string what = argv[1];
        what == "talk" ? talk() : what == "gradients" ? gradients() : weights();
    });
}
