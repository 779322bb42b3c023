// Files in the safetensors format that no program would write.
#pragma once
#include <cstring>

#include "common/train/checkpoint.h"
#include "tests/check.h"

namespace babygpt {

inline const std::string dtype = in_double ? "F64" : "F32";

// A file of this header and so many bytes of numbers.
inline std::string file(std::string_view header, size_t numbers = 0) {
    uint64_t length = header.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes.append(header).append(numbers * sizeof(real), '\1');
}

inline void check_damaged(const std::string& bytes, const std::vector<std::string>& words = {}) {
    std::vector<std::string> all{"model.file"};
    all.insert(all.end(), words.begin(), words.end());
    check_error([&] { from_safetensors(bytes, "model.file"); }, all);
}

}  // namespace babygpt
