#include "common/gemm.h"

#include <cblas.h>

#include "common/tile.h"

namespace babygpt {

namespace {

void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha, const float* a, int lda,
               const float* b, int ldb, float beta, float* c, int ldc) {
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

}  // namespace

void gemm(size_t m, size_t n, size_t k, real alpha, Matrix a, Matrix b, real beta, real* c, size_t c_stride) {
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
