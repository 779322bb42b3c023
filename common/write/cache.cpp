#include "common/write/cache.h"

#include <algorithm>
#include <cmath>

#include "common/tensor/gemm.h"
#include "common/tensor/kernels.h"

namespace babygpt {

void KeyValueCache::append(const Tensor& k, const Tensor& v) {
    Shape shape = k.shape();
    if (shape.size() != 3 || v.shape() != shape || (kept && (size_t(shape[0]) != B || size_t(shape[2]) != C)))
        fail("append: keys of ", to_string(shape), " and values of ", to_string(v.shape()), " do not fit a cache of ",
             B, " sequences of ", C);
    B = size_t(shape[0]), C = size_t(shape[2]);
    size_t T = size_t(shape[1]), old = room;
    while (room < kept + T) room = std::max<size_t>(64, 2 * room);
    auto add = [&](std::vector<real>& all, std::span<const real> fresh) {
        if (room != old) {
            std::vector<real> larger(B * room * C);
            for (size_t b = 0; b < B && kept; ++b) std::copy_n(&all[b * old * C], kept * C, &larger[b * room * C]);
            all = std::move(larger);
        }
        for (size_t b = 0; b < B; ++b) std::copy_n(&fresh[b * T * C], T * C, &all[(b * room + kept) * C]);
    };
    add(all_keys, k.values()), add(all_values, v.values());
    kept += T;
}

Tensor KeyValueCache::kept_of(const std::vector<real>& all) const {
    if (kept == 0) fail("the cache is empty: append keys and values first");
    Tensor result = Tensor::zeros({int(B), int(kept), int(C)});
    for (size_t b = 0; b < B; ++b) std::copy_n(&all[b * room * C], kept * C, &result.values()[b * kept * C]);
    return result;
}
Tensor KeyValueCache::keys() const { return kept_of(all_keys); }
Tensor KeyValueCache::values() const { return kept_of(all_values); }

Tensor KeyValueCache::attend(const Tensor& q, int n_head) const {
    Shape shape = q.shape();
    if (shape.size() != 3 || size_t(shape[0]) != B || size_t(shape[1]) > kept || size_t(shape[2]) != C || n_head < 1 ||
        shape[2] % n_head)
        fail("attend: queries of ", to_string(shape), " with ", n_head, " heads do not fit a cache of ", B,
             " sequences of ", C, " with ", kept, " places");
    const size_t T = size_t(shape[1]), heads = size_t(n_head), H = C / heads;
    Tensor out = Tensor::zeros(shape);
    std::vector<real> weights(T > 1 && T == kept ? T * T : kept);
    for (size_t b = 0; b < B; ++b)
        for (size_t h = 0; h < heads; ++h) {
            const real *row = &q.values()[b * T * C + h * H], *k = &all_keys[b * room * C + h * H],
                       *v = &all_values[b * room * C + h * H];
            real* result = &out.values()[b * T * C + h * H];
            if (T > 1 && T == kept) {  // a prompt: all its places at once, as in training
                attention({.T = T, .head_size = H, .stride = C}, row, k, v, weights.data(), result, C);
                continue;
            }
            for (size_t t = 0; t < T; ++t, row += C, result += C) {
                size_t seen = kept - T + t + 1;
                gemm(1, seen, H, 1 / std::sqrt(real(H)), {row, C}, {k, C, true}, 0, weights.data(), seen);
                softmax_row(weights.data(), weights.data(), seen, seen);
                gemm(1, H, seen, 1, {weights.data(), seen}, {v, C}, 0, result, C);
            }
        }
    return out;
}

}  // namespace babygpt
