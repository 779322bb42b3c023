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

PaddedRows pad_rows(std::span<const std::vector<int>> rows, int pad) {
    std::vector<int> lengths, ids;
    for (const std::vector<int>& row : rows) lengths.push_back(int(row.size()));
    int T = *std::ranges::max_element(lengths);
    for (const std::vector<int>& row : rows) {
        ids.insert(ids.end(), row.begin(), row.end());
        ids.resize(ids.size() + size_t(T) - row.size(), pad);
    }
    return {Tokens(int(rows.size()), T, ids), lengths};
}

}  // namespace babygpt
