#include "common/train/snapshots.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "common/base/error.h"
#include "common/base/files.h"

namespace babygpt {

namespace {

// Whether the evaluation of this number, out of `count`, is among the `most` that are spread evenly over all of them.
bool is_chosen(int64_t number, int64_t count, int64_t most) {
    if (count <= most) return true;
    if (most < 2) return false;
    auto nearest = [](int64_t i, int64_t from, int64_t to) { return (2 * i * to + from) / (2 * from); };
    return nearest(nearest(number, count - 1, most - 1), most - 1, count - 1) == number;
}

}  // namespace

void keep_snapshot(const Options& options, int step, const std::string& bytes) {
    constexpr double MB = 1e6;
    int count = (options.steps + options.eval_interval - 1) / options.eval_interval + 1;
    int number = (step + options.eval_interval - 1) / options.eval_interval;
    int most = int(std::min(options.snapshots * MB / double(bytes.size()), double(count)));
    if (!is_chosen(number, count, most)) return;
    std::string directory = options.out + "/snapshots";
    std::error_code error;
    std::filesystem::create_directory(directory, error);
    if (error) fail("cannot write to ", directory, ": ", error.message());
    write_whole(str(directory, "/", step, ".safetensors"), bytes, Flush::no);  // training does not wait for it
}

}  // namespace babygpt
