#include "common/base/memory.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/format.h"

namespace babygpt {

namespace {

// The number after `key` in a file of lines "key number ...", or the first number of the file without a key.
size_t number_in(const std::string& file, const std::string& key, size_t otherwise) {
    std::ifstream in(file);
    for (std::string line, word; std::getline(in, line);) {
        std::istringstream words(line);
        size_t number;
        if (!key.empty() && !(words >> word && word == key)) continue;
        if (words >> number) return number;
        break;
    }
    return otherwise;
}

// What a cgroup leaves: its limit without what it uses, where the cache of files counts as free. Limits hold for all
// cgroups below, so it goes up to the root.
size_t left_in(const std::string& root, std::filesystem::path group, const char* limit, const char* usage,
               const char* cache) {
    size_t least = SIZE_MAX;
    for (;; group = group.parent_path()) {
        std::string at = root + group.string() + "/";
        size_t most = number_in(at + limit, "", SIZE_MAX), used = number_in(at + usage, "", 0);
        used -= std::min(used, number_in(at + "memory.stat", cache, 0));
        if (most != SIZE_MAX) least = std::min(least, most - std::min(most, used));
        if (!group.has_relative_path()) return least;
    }
}

}  // namespace

size_t available_memory(const std::string& proc, const std::string& cgroups) {
    size_t kilobytes = number_in(proc + "/meminfo", "MemAvailable:", 0);
    size_t least = kilobytes ? kilobytes * 1024 : SIZE_MAX;
    std::ifstream groups(proc + "/self/cgroup");  // lines of number:controllers:path; version 2 has no controllers
    for (std::string line; std::getline(groups, line);) {
        size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",",
                    path = line.substr(second + 1);
        if (controllers == ",,")
            least = std::min(least, left_in(cgroups, path, "memory.max", "memory.current", "inactive_file"));
        if (controllers.find(",memory,") != std::string::npos)
            least = std::min(least, left_in(cgroups + "/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                            "total_inactive_file"));
    }
    return least;
}

void require_memory(size_t bytes, const char* what) {
    size_t available = available_memory();
    if (bytes > available)
        throw OutOfMemory(str("not enough memory: ", what, " wants ", readable_size(bytes), " more, ",
                              readable_size(available), " is free; choose smaller sizes ",
                              "(--n-embd, --n-layer, --block-size, --batch-size) or a smaller vocabulary"));
}

std::string readable_size(size_t bytes) {
    return bytes < 1e9 ? format("%.1f MB", double(bytes) / 1e6) : format("%.1f GB", double(bytes) / 1e9);
}

}  // namespace babygpt
