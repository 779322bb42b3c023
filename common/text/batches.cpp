#include "common/text/batches.h"

#include <algorithm>

#include "common/base/error.h"

namespace babygpt {

Batch random_batch(const std::vector<int>& tokens, int B, int T, Rng& rng) {
    if (tokens.size() <= size_t(T)) fail("a text of ", tokens.size(), " characters is too short for blocks of ", T);
    Batch batch{Tokens(B, T), Tokens(B, T)};
    for (int b = 0; b < B; ++b) {
        auto start = tokens.begin() + std::ptrdiff_t(rng.below(tokens.size() - size_t(T)));
        std::copy_n(start, T, batch.x.ids.begin() + std::ptrdiff_t(b) * T);
        std::copy_n(start + 1, T, batch.y.ids.begin() + std::ptrdiff_t(b) * T);
    }
    return batch;
}

}  // namespace babygpt
