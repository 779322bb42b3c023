#include "common/gemm.h"

#include <cblas.h>

#include "common/tile.h"

namespace babygpt {

namespace {

[[maybe_unused]] void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha,
                                const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
[[maybe_unused]] void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
                                const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc) {
    cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// Measured: with b in the cache the tile product is as fast as BLAS (AVX2) or faster (AVX-512), whatever a is; but BLAS
// reads a transposed a better, unless all is small.
bool prefer_tile(size_t m, size_t n, size_t k, bool a_transposed) {
    return a_transposed ? m * n * k <= size_t{1} << 14 : k * n <= size_t{1} << 17;
}

// Threads are over the batch, so BLAS must not start its own.
const int blas_threads = (openblas_set_num_threads(1), 1);

// c (n) = alpha * b (n, k) a (k) + beta * c: one row of activations and a weight matrix, as when a model writes token
// by token. Every weight is read once and used once, so this runs as fast as memory delivers; four rows at a time, and
// asking for what comes 4 KB later, keep it busy.
void row_times_transposed(size_t n, size_t k, real alpha, const real* a, const real* b, size_t b_stride, real beta,
                          real* c) {
    auto dots = [&]<size_t rows>(size_t j) {
        Vec total[rows];
        for (Vec& v : total) v = Vec(real(0));
        for_lanes(k, [&](size_t i, size_t count) {
            Vec x = load(a + i, count);
            for (size_t r = 0; r < rows; ++r) __builtin_prefetch(b + (j + r) * b_stride + i + 1024);
#pragma GCC unroll 4
            for (size_t r = 0; r < rows; ++r)
                total[r] = xsimd::fma(load(b + (j + r) * b_stride + i, count), x, total[r]);
        });
        for (size_t r = 0; r < rows; ++r) c[j + r] = alpha * sum(total[r]) + (beta == 0 ? 0 : beta * c[j + r]);
    };
    size_t j = 0;
    for (; j + 4 <= n; j += 4) dots.operator()<4>(j);
    for (; j < n; ++j) dots.operator()<1>(j);
}

// c (n) = alpha * a (k) b (k, n) + beta * c: b's rows, weighted and added.
void row_times(size_t n, size_t k, real alpha, const real* a, const real* b, size_t b_stride, real beta, real* c) {
    for (size_t j = 0; j < n; ++j) c[j] = beta == 0 ? 0 : beta * c[j];
    for (size_t i = 0; i < k; ++i, b += b_stride)
        for (size_t j = 0; j < n; ++j) c[j] += alpha * a[i] * b[j];
}

}  // namespace

void gemm(size_t m, size_t n, size_t k, real alpha, Matrix a, Matrix b, real beta, real* c, size_t c_stride) {
    if (m == 1 && !a.transposed)
        return (b.transposed ? row_times_transposed : row_times)(n, k, alpha, a.data, b.data, b.stride, beta, c);
    if (prefer_tile(m, n, k, a.transposed)) {
        thread_local Packed packed;
        packed.pack(k, n, b.data, b.transposed ? 1 : b.stride, b.transposed ? b.stride : 1);
        tile_matmul(m, n, k, alpha, a.data, a.transposed ? 1 : a.stride, a.transposed ? a.stride : 1, packed, beta, c,
                    c_stride);
        return;
    }
    blas_gemm(a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans, int(m), int(n),
              int(k), alpha, a.data, int(a.stride), b.data, int(b.stride), beta, c, int(c_stride));
}

}  // namespace babygpt
