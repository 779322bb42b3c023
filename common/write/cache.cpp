#include "common/write/cache.h"

#include <algorithm>
#include <cmath>

#include "common/tensor/gemm.h"
#include "common/tensor/kernels.h"

namespace babygpt {

KeyValueCache::KeyValueCache(int B, int block_size, int n_embd)
    : block(size_t(block_size)),
      C(size_t(n_embd)),
      keys(size_t(B) * block * C),
      values(size_t(B) * block * C),
      lengths(size_t(B)) {}

Tensor KeyValueCache::attend(const Tensor& qkv, int n_head, int first) {
    const size_t S = size_t(qkv.size(0)), T = size_t(qkv.size(1)), heads = size_t(n_head), H = C / heads;
    if (size_t(qkv.size(2)) != 3 * C || first < 0 || size_t(first) + S > lengths.size())
        fail("attend: new places of ", to_string(qkv.shape()), " do not fit a cache of ", lengths.size(),
             " sequences of ", C);
    Tensor out = Tensor::zeros({int(S), int(T), int(C)});
    std::vector<real> weights(block);
    for (size_t s = 0; s < S; ++s) {
        int& length = lengths[size_t(first) + s];
        if (size_t(length) + T > block)
            fail("attend: ", length, " places and ", T, " new ones are more than the block of ", block);
        real *k = &keys[(size_t(first) + s) * block * C], *v = &values[(size_t(first) + s) * block * C];
        if (length == 0 && T > 1) {  // a prompt: all its places at once, as in training
            const real* rows = qkv.values().data() + s * T * 3 * C;
            for (size_t t = 0; t < T; ++t) {
                std::copy_n(rows + t * 3 * C + C, C, k + t * C);
                std::copy_n(rows + t * 3 * C + 2 * C, C, v + t * C);
            }
            weights.resize(std::max(block, T * T));
            for (size_t h = 0; h < heads; ++h) {
                const real* q = rows + h * H;
                attention({.T = T, .head_size = H, .stride = 3 * C}, q, q + C, q + 2 * C, weights.data(),
                          out.values().data() + s * T * C + h * H, C);
            }
            length = int(T);
            continue;
        }
        for (size_t t = 0; t < T; ++t) {
            const real* row = qkv.values().data() + (s * T + t) * 3 * C;
            real* result = out.values().data() + (s * T + t) * C;
            std::copy_n(row + C, C, k + size_t(length) * C);
            std::copy_n(row + 2 * C, C, v + size_t(length) * C);
            size_t seen = size_t(++length);
            for (size_t h = 0; h < heads; ++h) {
                gemm(1, seen, H, 1 / std::sqrt(real(H)), {row + h * H, C}, {k + h * H, C, true}, 0, weights.data(),
                     seen);
                softmax_row(weights.data(), weights.data(), seen, seen);
                gemm(1, H, seen, 1, {weights.data(), seen}, {v + h * H, C}, 0, result + h * H, C);
            }
        }
    }
    return out;
}

}  // namespace babygpt
