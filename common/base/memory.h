// How much memory there is to have.
#pragma once
#include <cstddef>
#include <string>

#include "common/base/error.h"

namespace babygpt {

struct OutOfMemory : Error {  // its text ends in what to choose instead
    using Error::Error;
};

// What the system could still give, in bytes: the machine, or the container (cgroup) this program runs in if that has
// less. The directories are arguments for the tests.
size_t available_memory(const std::string& proc = "/proc", const std::string& cgroups = "/sys/fs/cgroup");
void require_memory(size_t bytes, const char* what);  // throws OutOfMemory unless that much is available
std::string readable_size(size_t bytes);              // "1.5 GB", "20.0 MB"

}  // namespace babygpt
