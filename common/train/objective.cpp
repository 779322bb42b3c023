#include "common/train/objective.h"

#include <algorithm>

#include "common/base/format.h"

namespace babygpt {

namespace {

constexpr size_t chunk_tokens = 1024;

}  // namespace

void for_chunks(const DrawnBatch& batch, int first, int last, const std::function<void(int first, int last)>& f) {
    int rows = std::max(1, int(chunk_tokens * size_t(batch.rows()) / batch.tokens()));
    for (int row = first; row < last; row += rows) f(row, std::min(row + rows, last));
}

std::vector<Objective::File> Objective::files() const { return {}; }
std::string Objective::remark(double, const Module*) const { return ""; }
std::string Objective::in_words(double loss) const { return format("%.4f nats", loss); }

}  // namespace babygpt
