#include "common/tensor/gemm.h"

#include <cblas.h>

#include "common/base/thread_pool.h"
#include "common/tensor/tile.h"

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

// Calls part(first, last) for 0 to n: at once, or if that takes microseconds, in two halves of which a member of the
// team with nothing to do may take one. Halves are cut at a multiple of `unit`.
template <class Part>
void in_halves(size_t n, size_t unit, bool worth_sharing, const Part& part) {
    size_t half = worth_sharing ? n / 2 / unit * unit : n;
    bool shared = half < n && hand_out([&part, half, n] { part(half, n); });
    part(0, half);
    if (shared) settle();
}

// c (n) = alpha * b (n, k) a (k) + beta * c: one row of activations and a weight matrix, as when a model writes token
// by token. Every weight is read once and used once, so this runs as fast as memory delivers: four rows are read at a
// time, and what comes 4 KB later is asked for.
void row_times_transposed(size_t n, size_t k, real alpha, const real* a, const real* b, size_t b_stride, real beta,
                          real* c) {
    auto dots = [=]<size_t rows>(size_t j) {
        const real* row[rows];
        Vec total[rows];
        for (size_t r = 0; r < rows; ++r) row[r] = b + (j + r) * b_stride, total[r] = Vec(real(0));
        auto add_products = [&](size_t i, size_t count) {
            Vec x = load(a + i, count);
#pragma GCC unroll 4
            for (size_t r = 0; r < rows; ++r) total[r] = xsimd::fma(load(row[r] + i, count), x, total[r]);
        };
        constexpr size_t step = 4 * lanes, line = 64 / sizeof(real);
        size_t i = 0;
        for (; i + step <= k; i += step) {
            for (const real* r : row)
                for (size_t ahead = 1024; ahead < 1024 + step; ahead += line) __builtin_prefetch(r + i + ahead);
#pragma GCC unroll 4
            for (size_t v = 0; v < step; v += lanes) add_products(i + v, lanes);
        }
        for_lanes(k - i, [&](size_t start, size_t count) { add_products(i + start, count); });
        for (size_t r = 0; r < rows; ++r) c[j + r] = alpha * sum(total[r]) + (beta == 0 ? 0 : beta * c[j + r]);
    };
    auto columns = [=](size_t j, size_t end) {
        for (; j + 4 <= end; j += 4) dots.template operator()<4>(j);
        for (; j < end; ++j) dots.template operator()<1>(j);
    };
    in_halves(n, 4, n * k >= size_t{1} << 14, columns);
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
        size_t row = a.transposed ? 1 : a.stride, column = a.transposed ? a.stride : 1;
        return in_halves(m, tile_rows, m * n * k >= size_t{1} << 20, [&, &b = packed](size_t first, size_t last) {
            tile_matmul(last - first, n, k, alpha, a.data + first * row, row, column, b, beta, c + first * c_stride,
                        c_stride);
        });
    }
    blas_gemm(a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans, int(m), int(n),
              int(k), alpha, a.data, int(a.stride), b.data, int(b.stride), beta, c, int(c_stride));
}

}  // namespace babygpt
