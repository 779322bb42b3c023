#include "docs/exercises/check.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace exercise {

namespace {

struct Wrong {
    std::string what, hint;
};

constexpr int seconds = 20;

const std::string nan_hint =
    "NaN means \"not a number\". It comes from 0 / 0, inf - inf, 0 * inf, or the logarithm or root of a negative "
    "number. ";

std::string text(double number, int digits = 6) {
    if (std::isnan(number)) return "NaN";
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, number);
    return buffer;
}

std::string shape_text(const Shape& shape) { return shape.empty() ? "of a single number" : to_string(shape); }

// "scores[0, 1, 2]"
std::string element(const std::string& name, const Shape& shape, size_t i) {
    if (shape.empty()) return name;
    std::string inside;
    for (size_t axis = shape.size(); axis-- > 0; i /= size_t(shape[axis]))
        inside = std::to_string(i % size_t(shape[axis])) + (inside.empty() ? "" : ", ") + inside;
    return name + "[" + inside + "]";
}

// How far numbers may lie apart: a share of the largest that is expected.
double allowed(const Numbers& expected, double tolerance) {
    double largest = 0;
    for (double number : expected.values)
        if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
    return tolerance * (largest > 0 ? largest : 1);
}

bool agree(double found, double expected, double apart) {
    return found == expected || std::abs(found - expected) <= apart;
}

}  // namespace

Numbers::Numbers(const Tensor& tensor) {
    if (!tensor.node) return;  // a Tensor that nobody filled
    shape = tensor.shape();
    values.assign(tensor.values().begin(), tensor.values().end());
}

void wrong(const std::string& what, const std::string& hint) { throw Wrong{what, hint}; }

void expect(bool right, const std::string& what, const std::string& hint) {
    if (!right) wrong(what, hint);
}

bool alike(const Numbers& found, const Numbers& expected, double tolerance) {
    double apart = allowed(expected, tolerance);
    return found.shape == expected.shape &&
           std::equal(found.values.begin(), found.values.end(), expected.values.begin(), expected.values.end(),
                      [&](double a, double b) { return agree(a, b, apart); });
}

void expect_same(const std::string& name, const Numbers& found, const Numbers& expected, const std::string& hint,
                 const std::vector<Known>& known, double tolerance) {
    if (alike(found, expected, tolerance)) return;
    if (found.values.empty()) wrong(name + " is empty, expected the shape " + shape_text(expected.shape) + ".", hint);
    if (found.shape != expected.shape || found.values.size() != expected.values.size())
        wrong(str(name, " has the shape ", shape_text(found.shape), ", expected ", shape_text(expected.shape), "."),
              hint);
    size_t first = 0, differ = 0, n = found.values.size();
    for (size_t i = n; i-- > 0;)
        if (!agree(found.values[i], expected.values[i], allowed(expected, tolerance))) first = i, ++differ;
    std::string is = text(found.values[first]), should_be = text(expected.values[first]);
    if (is == should_be) is = text(found.values[first], 10), should_be = text(expected.values[first], 10);
    std::string what = element(name, found.shape, first) + " is " + is + ", expected " + should_be;
    what += n == 1 ? "." : str(" (", differ, " of ", n, " numbers differ).");
    for (const Known& mistake : known)
        if (alike(found, mistake.numbers, tolerance)) wrong(what, mistake.means);
    if (std::isnan(found.values[first])) wrong(what, nan_hint + hint);
    if (n > 1 && std::ranges::all_of(found.values, [](double number) { return number == 0; }))
        wrong(what, "All of " + name + " is 0: is its place still empty? " + hint);
    wrong(what, hint);
}

Registered registered(const std::string& prefix, const Module& part) {
    Registered result;
    for (const auto& [name, tensor] : part.parameters) result.emplace_back(prefix + "." + name, tensor.shape());
    return result;
}

void expect_parameters(const Module& module, const std::vector<Registered>& expected) {
    size_t count = 0;
    for (const Registered& part : expected) {
        for (const auto& [name, shape] : part) {
            auto at = std::ranges::find(module.parameters, name, &Module::Parameter::name);
            if (at == module.parameters.end())
                wrong(str("There is no parameter \"", name, "\" among the ", module.parameters.size(), " registered",
                          module.parameters.empty() ? "." : "; the first is \"" + module.parameters[0].name + "\"."),
                      "The optimiser trains only what the constructor registers: add(\"name\", part).");
            if (at->tensor.shape() != shape)
                wrong(str("The parameter \"", name, "\" has the shape ", to_string(at->tensor.shape()), ", expected ",
                          to_string(shape), "."),
                      "A Linear(in, out) has a weight of shape (out, in) and a bias of shape (out).");
            ++count;
        }
    }
    if (module.parameters.size() != count)
        wrong(str(module.parameters.size(), " parameters are registered, expected ", count, "."),
              "Is a part registered twice, or one too many?");
}

void expect_gradients(const Module& module, const Tensor& y, const std::string& hint) {
    for (auto [name, tensor] : module.parameters) tensor.clear_grad();
    sum(y * random_tensor(y.shape(), 77)).backward();
    for (const auto& [name, tensor] : module.parameters) {
        bool moved = tensor.has_grad() && std::ranges::any_of(tensor.grad(), [](real g) { return g != 0; });
        if (!moved) wrong("The parameter \"" + name + "\" gets no gradient: it would never learn.", hint);
    }
}

void expect_causal(const std::function<Tensor(const Tensor&)>& f, const Shape& shape, const std::string& hint) {
    NoGrad evaluation;
    Tensor x = random_tensor(shape, 21);
    Tensor before = f(x);
    size_t B = size_t(shape[0]), T = size_t(shape[1]), C = size_t(shape[2]), n = before.count() / (B * T);
    for (size_t changed = 1; changed < T; ++changed) {
        Tensor other(shape, x.values());
        for (size_t b = 0; b < B; ++b)
            for (size_t c = 0; c < C; ++c) other.values()[(b * T + changed) * C + c] += 1;
        Tensor after = f(other);
        for (size_t t = 0; t < changed; ++t)
            for (size_t i = 0; i < n; ++i) {
                double old = before.values()[t * n + i], now = after.values()[t * n + i];
                if (std::isnan(old)) wrong(str("The result at place ", t, " is NaN."), nan_hint + hint);
                if (agree(now, old, 1e-5)) continue;
                wrong(str("A change of x at place ", changed, " changes the result at place ", t, ": number ", i,
                          " there was ", text(old), " and is now ", text(now), "."),
                      hint);
            }
    }
}

Tensor random_parameter(const Shape& shape, uint64_t seed, double deviation) {
    Tensor tensor = Tensor::parameter(shape);
    Rng rng(seed, "exercise");
    fill_normal(tensor, deviation, rng);
    return tensor;
}

Tensor random_tensor(const Shape& shape, uint64_t seed, double deviation) {
    return {shape, random_parameter(shape, seed, deviation).values()};
}

std::vector<real> random_numbers(size_t n, uint64_t seed) {
    Tensor tensor = random_tensor({int(n)}, seed);
    return {tensor.values().begin(), tensor.values().end()};
}

std::vector<int> random_ids(size_t n, int V, uint64_t seed) {
    std::vector<int> ids(n);
    Rng rng(seed, "ids");
    for (int& id : ids) id = int(rng.below(uint64_t(V)));
    return ids;
}

void fill(Tensor x, real with) { std::ranges::fill(x.values(), with); }

std::string list(const std::vector<int>& numbers) {
    std::string inside;
    for (int number : numbers) inside += (inside.empty() ? "" : ", ") + std::to_string(number);
    return "{" + inside + "}";
}

std::vector<Tensor> core_gradients(const std::function<Tensor()>& f, const std::vector<Tensor>& inputs,
                                   const Tensor& dy) {
    for (Tensor input : inputs) input.clear_grad();
    sum(f() * dy).backward();
    std::vector<Tensor> gradients;
    for (const Tensor& input : inputs) gradients.emplace_back(input.shape(), input.grad());
    return gradients;
}

Tensor head_sums(const Tensor& q, const Tensor& k, const Tensor& v, double divisor, const Mask& mask) {
    return matmul(softmax(masked_fill(matmul(q, transpose(k)) / divisor, mask, -INFINITY)), v);
}

Mask no_mask(int T) { return {{T, T}, std::vector<char>(size_t(T) * size_t(T))}; }

}  // namespace exercise

namespace {

using exercise::seconds;

[[noreturn]] void report(const char* message) {  // also from a signal handler, so only what is safe there
    [[maybe_unused]] ssize_t written = write(STDOUT_FILENO, message, std::strlen(message));
    _exit(1);
}

void on_signal(int signal) {
    if (signal == SIGALRM)
        report("It is not done after 20 seconds.\nHint: a loop that never ends? Look at what each loop counts.\n");
    if (signal == SIGFPE)
        report("It crashed: a whole number was divided by 0.\nHint: look at every / and % of ints.\n");
    if (signal == SIGABRT)
        report(
            "It stopped itself: an index lies beyond the end of a vector or span, or an exception left a thread.\n"
            "Hint: how long is each span, and what is the largest index your loops reach?\n");
    report(
        "It crashed: it used memory that is not its own.\n"
        "Hint: an index beyond the end, an empty Tensor that was used, or a function that calls itself for ever.\n");
}

void guard() {
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // what the learner prints is out before a crash
    static char stack[1 << 16];                      // the own stack may be what ran out
    stack_t alternative{};
    alternative.ss_sp = stack, alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM}) sigaction(signal, &action, nullptr);
    rlimit memory{rlim_t(4) << 30, rlim_t(4) << 30};  // a loop that never stops growing a vector ends here
    setrlimit(RLIMIT_DATA, &memory);
    alarm(seconds);
}

int failed(const std::string& what, const std::string& hint) {
    std::printf("%s\nHint: %s\n", what.c_str(), hint.c_str());
    return 1;
}

}  // namespace

int main() {
    guard();
    try {
        std::string right = check();
        std::printf("%s\n", right.c_str());
        return 0;
    } catch (const exercise::Wrong& error) {
        return failed(error.what, error.hint);
    } catch (const babygpt::Error& error) {
        return failed(
            babygpt::str("The core refuses: ", error.what(), "."),
            "Two shapes do not fit, or a number is out of range. Write the shape after each line and compare.");
    } catch (const std::bad_alloc&) {
        return failed("It wants more memory than there is.", "A loop that never stops growing a vector?");
    } catch (const std::exception& error) {
        return failed(babygpt::str("It threw an exception: ", error.what(), "."), "Look at the indices, and at .at().");
    } catch (...) {
        return failed("It threw something that is no exception.", "Look for a throw in your code.");
    }
}
