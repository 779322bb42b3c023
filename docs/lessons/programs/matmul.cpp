// Lesson "how fast": one product of n x n matrices, four ways, in billions of multiplications and additions a second.
#include <cblas.h>

#include <chrono>
#include <cstdio>
#include <vector>
#include <xsimd/xsimd.hpp>

#include "common/tensor/gemm.h"

//> orders
// C += A B, the formula as it is written: for each element of C, a row of A and a column of B.
void row_by_column(const float* A, const float* B, float* C, int n) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < n; ++k) C[i * n + j] += A[i * n + k] * B[k * n + j];
}

// The same sums, the two inner loops exchanged: B and C are read as they lie in memory.
void row_by_row(const float* A, const float* B, float* C, int n) {
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j) C[i * n + j] += A[i * n + k] * B[k * n + j];
}
//< orders

//> tiles
// The same sums, a tile of C at a time: its 4 x 2 vectors stay in registers, and a vector of B is read for four uses.
using Vector = xsimd::batch<float>;  // 8 numbers with AVX2, 16 with AVX-512

void by_tiles(const float* A, const float* B, float* C, int n) {
    constexpr int rows = 4, vectors = 2, width = Vector::size;
    for (int i = 0; i < n; i += rows)
        for (int j = 0; j < n; j += vectors * width) {
            Vector sum[rows][vectors];
            for (int r = 0; r < rows; ++r)
                for (int v = 0; v < vectors; ++v) sum[r][v] = Vector::load_unaligned(C + (i + r) * n + j + v * width);
            for (int k = 0; k < n; ++k)
                for (int r = 0; r < rows; ++r)
                    for (int v = 0; v < vectors; ++v)
                        sum[r][v] += A[(i + r) * n + k] * Vector::load_unaligned(B + k * n + j + v * width);
            for (int r = 0; r < rows; ++r)
                for (int v = 0; v < vectors; ++v) sum[r][v].store_unaligned(C + (i + r) * n + j + v * width);
        }
}
//< tiles

template <class F>
double gflops(int n, F multiply) {
    using Clock = std::chrono::steady_clock;
    int count = 0;
    auto begin = Clock::now();
    double seconds = 0;
    for (; seconds < 0.3; ++count) multiply(), seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return 2.0 * n * n * n * count / seconds / 1e9;
}

int main() {
    babygpt::set_up_blas();
    std::printf("GFLOP/s on one core\n%6s %14s %12s %8s %8s\n", "n", "row by column", "row by row", "tiles", "BLAS");
    for (int n = 32; n <= 1024; n *= 2) {
        std::vector<float> a(size_t(n * n), 0.5f), b = a, c = a;
        float *A = a.data(), *B = b.data(), *C = c.data();
        std::printf("%6d %14.1f %12.1f %8.1f %8.1f\n", n, gflops(n, [=] { row_by_column(A, B, C, n); }),
                    gflops(n, [=] { row_by_row(A, B, C, n); }), gflops(n, [=] { by_tiles(A, B, C, n); }),
                    gflops(n, [=] {
                        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, A, n, B, n, 1, C, n);
                    }));
    }
}
