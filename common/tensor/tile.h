// Matrix products small enough to stay in cache: attention's tiles, and layers of a tiny model. BLAS prepares every
// call as if it were large, at 8x8 for twenty times the arithmetic; here one operand is packed once and used often.
#pragma once
#include <vector>

#include "common/tensor/allocator.h"
#include "common/tensor/simd.h"

namespace babygpt {

constexpr size_t tile_columns = 2 * lanes;                // two vectors of a row of the result are computed together,
constexpr size_t tile_rows = sizeof(Vec) == 64 ? 12 : 6;  // for as many rows as fit the registers

constexpr size_t kept_numbers = (size_t{128} << 10) / sizeof(real);  // of a, next to a panel of b in the L2 cache

// A (k, n) matrix, rearranged into panels of tile_columns columns that are read front to back, the last one as wide as
// needed and padded with zeros.
class Packed {
  public:
    // Element (i, j) is b[i * row + j * column], so a transpose is a matter of strides.
    void pack(size_t k, size_t n, const real* b, size_t row, size_t column) {
        depth = k;
        data.resize((n + lanes - 1) / lanes * lanes * k);
        real* out = data.data();
        for (size_t j0 = 0; j0 < n; j0 += tile_columns) {
            size_t width = std::min(tile_columns, n - j0), padded = (width + lanes - 1) / lanes * lanes;
            const real* in = b + j0 * column;
            if (column == 1)
                for (size_t i = 0; i < k; ++i)
                    for (size_t j = 0; j < width; j += lanes)
                        load(in + i * row + j, std::min(lanes, width - j)).store_unaligned(out + i * padded + j);
            else  // each column as it lies in memory
                for (size_t j = 0; j < padded; ++j)
                    for (size_t i = 0; i < k; ++i) out[i * padded + j] = j < width ? in[j * column + i * row] : 0;
            out += k * padded;
        }
    }
    const real* panel(size_t j0) const { return data.data() + j0 * depth; }

  private:
    size_t depth = 0;
    std::vector<real, ArrayAllocator<real>> data;
};

// A tile of `rows` rows and `vectors` vectors: c (rows, width) = alpha * a (rows, k) b (k, width) + beta * c
template <size_t rows, size_t vectors>
inline void tile(size_t width, size_t k, real alpha, const real* a, size_t a_row, size_t a_column, const real* b,
                 real beta, real* c, size_t c_row) {
    Vec sum[rows][vectors];
    for (auto& row : sum)
        for (Vec& v : row) v = Vec(real(0));
    for (size_t p = 0; p < k; ++p, a += a_column, b += vectors * lanes) {
        Vec bp[vectors];
        for (size_t v = 0; v < vectors; ++v) bp[v] = Vec::load_unaligned(b + v * lanes);
#pragma GCC unroll 12
        for (size_t i = 0; i < rows; ++i)
            for (size_t v = 0; v < vectors; ++v) sum[i][v] = xsimd::fma(Vec(a[i * a_row]), bp[v], sum[i][v]);
    }
#pragma GCC unroll 12
    for (size_t i = 0; i < rows; ++i, c += c_row)
        for (size_t v = 0; v < vectors; ++v) {
            size_t count = std::min(lanes, width - v * lanes);
            Vec result = sum[i][v] * Vec(alpha);
            if (beta != 0) result = xsimd::fma(load(c + v * lanes, count), Vec(beta), result);
            store(c + v * lanes, result, count);
        }
}

// c (m, n) = alpha * a (m, k) b (k, n) + beta * c, with the first k rows of b; a(i, p) is a[i * a_row + p * a_column].
// n may be less than b's columns if it is a multiple of tile_columns. Every panel of b meets all rows of a, so as many
// of these are taken at a time as stay in cache.
inline void tile_matmul(size_t m, size_t n, size_t k, real alpha, const real* a, size_t a_row, size_t a_column,
                        const Packed& b, real beta, real* c, size_t c_row) {
    const size_t block = std::max<size_t>(1, kept_numbers / k / tile_rows) * tile_rows;
    for (size_t first = 0; first < m; first += block)
        for (size_t j = 0; j < n; j += tile_columns) {
            size_t width = std::min(tile_columns, n - j), i = first, last = std::min(first + block, m);
            auto tiles = [&]<size_t rows>() {
                for (; i + rows <= last; i += rows)
                    (width > lanes ? tile<rows, 2> : tile<rows, 1>)(width, k, alpha, a + i * a_row, a_row, a_column,
                                                                    b.panel(j), beta, c + i * c_row + j, c_row);
            };
            tiles.template operator()<tile_rows>();
            tiles.template operator()<tile_rows * 2 / 3>();
            tiles.template operator()<4>();
            tiles.template operator()<1>();
        }
}

}  // namespace babygpt
