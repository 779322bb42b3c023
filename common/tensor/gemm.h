// Matrix products. Only gemm.cpp knows BLAS.
#pragma once
#include <cstddef>

#include "common/tensor/real.h"

namespace babygpt {

struct Matrix {  // rows x columns in row-major memory; `stride` elements lie between two rows; read transposed if asked
    const real* data;
    size_t stride;
    bool transposed = false;
};

// c (m, n) = alpha * a (m, k) b (k, n) + beta * c. With beta 0, c need not hold numbers before.
void gemm(size_t m, size_t n, size_t k, real alpha, Matrix a, Matrix b, real beta, real* c, size_t c_stride);
// The same in two halves of c's columns, where it is large: a worker of the caller's pool that has nothing to do takes
// one. For a model that only reads: while it trains, all workers are busy with the batch.
void gemm_shared(size_t m, size_t n, size_t k, real alpha, Matrix a, Matrix b, real beta, real* c, size_t c_stride);

void set_up_blas();                    // done before main where gemm is used; for programs that call BLAS themselves
bool blas_takes_threads();             // false for a serial OpenBLAS, which then computes one product at a time
void require_blas_buffers(int count);  // fails if so many more threads that call BLAS would find no memory for it

}  // namespace babygpt
