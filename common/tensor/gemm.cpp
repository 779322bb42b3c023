#include "common/tensor/gemm.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <xtensor-blas/xblas.hpp>

#include "common/base/error.h"
#include "common/base/thread_pool.h"
#include "common/tensor/tile.h"

extern "C" {
void openblas_set_num_threads(int);
int openblas_get_parallel();
// While it is loaded OpenBLAS calls this for the number of threads to start; ours stands before its own, which looks
// into the environment. It must start none: threads are over the batch, and where there is no memory or no thread to be
// had it would wait for ever or end the program.
int openblas_num_threads_env() { return 1; }
char* openblas_get_corename();
[[gnu::weak]] void gotoblas_dynamic_quit();  // where OpenBLAS holds the code for many processors, these two choose anew
[[gnu::weak]] void gotoblas_dynamic_init();
}

namespace babygpt {

namespace {

// OpenBLAS takes this much address space for each of its callers at a time and keeps it. Where it cannot have it, it
// tries again for ever, so that is looked up first.
constexpr size_t blas_buffer = size_t{128} << 20;
std::atomic<int> callers = 0, most_callers = 0;

// Counts so many callers of BLAS as long as it lives.
struct Callers {
    const int count, all = callers += count;
    ~Callers() { callers -= count; }

    void require_memory() const {
        int most = most_callers;
        if (all <= most) return;
        require_blas_buffers(all - most);
        while (most < all && !most_callers.compare_exchange_weak(most, all)) continue;
    }
};

// A serial OpenBLAS must not be called by two threads at once: their products would be wrong.
std::mutex serial;

// For one of the Callers.
void blas_gemm(size_t m, size_t n, size_t k, real alpha, Matrix a, Matrix b, real beta, real* c, size_t c_stride) {
    std::unique_lock one_at_a_time(serial, std::defer_lock);
    if (!blas_takes_threads()) one_at_a_time.lock();
    auto way = [](const Matrix& x) { return x.transposed ? cxxblas::Trans : cxxblas::NoTrans; };
    using Index = xt::blas_index_t;
    cxxblas::gemm<Index>(cxxblas::RowMajor, way(a), way(b), Index(m), Index(n), Index(k), alpha, a.data,
                         Index(a.stride), b.data, Index(b.stride), beta, c, Index(c_stride));
}

// Measured: with b in the cache the tile product is as fast as BLAS (AVX2) or faster (AVX-512), whatever a is; but BLAS
// reads a transposed a better, unless all is small.
bool prefer_tile(size_t m, size_t n, size_t k, bool a_transposed) {
    return a_transposed ? m * n * k <= size_t{1} << 14 : k * n <= size_t{1} << 17;
}

const bool blas_is_set_up = (set_up_blas(), true);

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
    if (n * k < size_t{1} << 15) return columns(0, n);  // it is over before another worker has come
    size_t half = n / 2 / 4 * 4;                        // half of the weights are for a worker with nothing else to do
    fork_join([&] { columns(0, half); }, [&] { columns(half, n); });
}

// c (n) = alpha * a (k) b (k, n) + beta * c: b's rows, weighted and added.
void row_times(size_t n, size_t k, real alpha, const real* a, const real* b, size_t b_stride, real beta, real* c) {
    for (size_t j = 0; j < n; ++j) c[j] = beta == 0 ? 0 : beta * c[j];
    for (size_t i = 0; i < k; ++i, b += b_stride)
        for (size_t j = 0; j < n; ++j) c[j] += alpha * a[i] * b[j];
}

}  // namespace

// Threads are over the batch, so BLAS must not start its own. And for a processor that is newer than itself OpenBLAS
// takes the code of 2004, which was measured to be up to six times slower.
void set_up_blas() {
    openblas_set_num_threads(1);
#ifdef __x86_64__
    if (gotoblas_dynamic_init && gotoblas_dynamic_quit && __builtin_cpu_supports("avx2") &&
        std::string_view(openblas_get_corename()) == "Prescott") {
        setenv("OPENBLAS_CORETYPE", __builtin_cpu_supports("avx512vl") ? "SkylakeX" : "Haswell", 0);
        gotoblas_dynamic_quit();
        gotoblas_dynamic_init();
    }
#endif
}

bool blas_takes_threads() { return openblas_get_parallel() != 0; }

void require_blas_buffers(int count) {
    size_t bytes = size_t(count) * blas_buffer;
    void* buffers = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (buffers == MAP_FAILED)
        fail("not enough memory: OpenBLAS wants ", blas_buffer >> 20,
             " MB of address space for each thread; raise the limit (ulimit -v), or use fewer --threads");
    munmap(buffers, bytes);
}

void gemm(size_t m, size_t n, size_t k, real alpha, Matrix a, Matrix b, real beta, real* c, size_t c_stride) {
    if (m == 1 && !a.transposed)
        return (b.transposed ? row_times_transposed : row_times)(n, k, alpha, a.data, b.data, b.stride, beta, c);
    if (prefer_tile(m, n, k, a.transposed)) {
        thread_local Packed packed;
        packed.pack(k, n, b.data, b.transposed ? 1 : b.stride, b.transposed ? b.stride : 1);
        size_t row = a.transposed ? 1 : a.stride, column = a.transposed ? a.stride : 1;
        return tile_matmul(m, n, k, alpha, a.data, row, column, packed, beta, c, c_stride);
    }
    const Callers one{1};
    one.require_memory();
    blas_gemm(m, n, k, alpha, a, b, beta, c, c_stride);
}

void gemm_shared(size_t m, size_t n, size_t k, real alpha, Matrix a, Matrix b, real beta, real* c, size_t c_stride) {
    if (m == 1 || prefer_tile(m, n, k, a.transposed)) return gemm(m, n, k, alpha, a, b, beta, c, c_stride);
    auto columns = [=](size_t first, size_t last) {
        Matrix part{b.data + first * (b.transposed ? b.stride : 1), b.stride, b.transposed};
        blas_gemm(m, last - first, k, alpha, a, part, beta, c + first, c_stride);
    };
    const Callers two{2};
    two.require_memory();  // now, as no half may fail
    size_t half = n / 2 / lanes * lanes;
    fork_join([&] { columns(0, half); }, [&] { columns(half, n); });
}

}  // namespace babygpt
