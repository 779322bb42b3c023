// Files that are whole or not there.
#pragma once
#include <string>
#include <string_view>

namespace babygpt {

// Writes a temporary file beside the path, flushes it to the disk and renames it: a crash or a full disk at any moment
// leaves the old file or the new one, never half of one. Fails with the reason.
void write_whole(const std::string& path, std::string_view bytes);

}  // namespace babygpt
