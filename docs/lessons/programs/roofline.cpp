// Lesson "how fast": the two limits of one core, how fast it computes and how fast memory feeds it, and what they allow
// an operation that computes so much for each byte it moves.
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "common/tensor/gemm.h"

namespace {

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "a processor without a name";
}

// The shortest of several runs: whatever else the machine does only ever adds time.
double seconds(const std::function<void()>& f) {
    using Clock = std::chrono::steady_clock;
    double best = 1e9;
    for (int i = 0; i < 7; ++i) {
        auto begin = Clock::now();
        f();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return best;
}

void row(const char* name, double operations, double bytes, double time, double peak, double bandwidth) {
    double intensity = operations / bytes, limit = std::min(peak, intensity * bandwidth);
    std::printf("%-14s %12.2f %10.1f %10.1f %6.0f%%\n", name, intensity, limit / 1e9, operations / time / 1e9,
                100 * operations / time / limit);
}

}  // namespace

int main() {
    babygpt::set_up_blas();
    const size_t n = size_t{1} << 25;  // 128 MB each: no cache holds them
    std::vector<float> x(n, 1), y(n, 1), z(n, 1);
    auto product = [](int m, std::vector<float>& a, std::vector<float>& b, std::vector<float>& c) {
        return [=, pa = a.data(), pb = b.data(), pc = c.data()] {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, pa, m, pb, m, 0, pc, m);
        };
    };
    double copying = seconds([&] { std::copy(x.begin(), x.end(), y.begin()); });
    double bandwidth = 2.0 * n * sizeof(float) / copying;
    double peak = 2.0 * 1536 * 1536 * 1536 / seconds(product(1536, x, y, z));
    std::printf("%s\none core computes %.0f GFLOP/s and moves %.1f GB/s\n\n", processor().c_str(), peak / 1e9,
                bandwidth / 1e9);
    std::printf("%-14s %12s %10s %10s %7s\n", "operation", "FLOPs a byte", "limit", "measured", "share");
    row("add", n, 3.0 * n * sizeof(float), seconds([&] {
            for (size_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
        }),
        peak, bandwidth);
    row("relu", n, 2.0 * n * sizeof(float), seconds([&] {
            for (size_t i = 0; i < n; ++i) z[i] = std::max(x[i], 0.0f);
        }),
        peak, bandwidth);
    const int rows = 4096, columns = 8192;
    row("matrix*vector", 2.0 * rows * columns, 1.0 * rows * columns * sizeof(float), seconds([&] {
            cblas_sgemv(CblasRowMajor, CblasNoTrans, rows, columns, 1, x.data(), columns, y.data(), 1, 0, z.data(), 1);
        }),
        peak, bandwidth);
    for (int m : {128, 512, 1536}) {
        char name[32];
        std::snprintf(name, sizeof name, "product_%d", m);
        row(name, 2.0 * m * m * m, 3.0 * m * m * sizeof(float), seconds(product(m, x, y, z)), peak, bandwidth);
    }
}
