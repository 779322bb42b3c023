// A few words for loops over vectors of the machine's width (xsimd picks it when compiling). Rows need not be a
// multiple of that width: load and store take how many elements are left.
#pragma once
#include <algorithm>
#include <cstddef>
#include <xsimd/xsimd.hpp>

#include "common/tensor/real.h"

namespace babygpt {

using Vec = xsimd::batch<real>;
constexpr size_t lanes = Vec::size;

// Calls f(start, count) for each vector of a row of n; count is the width, or less at the end.
template <class F>
inline void for_lanes(size_t n, F f) {
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) f(i, lanes);
    if (i < n) f(i, n - i);
}

// The loops over lanes compile to one masked load or store where the machine has them.
inline Vec load(const real* p, size_t count, real fill = 0) {
    if (count == lanes) return Vec::load_unaligned(p);
    alignas(64) real padded[lanes];
    for (unsigned i = 0; i < lanes; ++i) padded[i] = i < unsigned(count) ? p[i] : fill;
    return Vec::load_aligned(padded);
}

inline void store(real* p, const Vec& v, size_t count) {
    if (count == lanes) return v.store_unaligned(p);
    alignas(64) real padded[lanes];
    v.store_aligned(padded);
    for (unsigned i = 0; i < lanes; ++i)
        if (i < unsigned(count)) p[i] = padded[i];
}

template <class F>
inline real fold(const Vec& v, F f) {  // combines the lanes, always in the same order
    alignas(64) real lane[lanes];
    v.store_aligned(lane);
    for (size_t width = lanes / 2; width; width /= 2)
        for (size_t i = 0; i < width; ++i) lane[i] = f(lane[i], lane[i + width]);
    return lane[0];
}
inline real sum(const Vec& v) {
    return fold(v, [](real a, real b) { return a + b; });
}
inline real max(const Vec& v) {
    return fold(v, [](real a, real b) { return std::max(a, b); });
}

}  // namespace babygpt
