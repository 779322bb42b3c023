// Files that are whole or not there, and the directory of a run.
#pragma once
#include <string>
#include <string_view>

namespace babygpt {

// Writes a temporary file beside the path, flushes it to the disk and renames it: a crash or a full disk at any moment
// leaves the old file or the new one, never half of one. Fails with the reason.
void write_whole(const std::string& path, std::string_view bytes);

// Makes the directory ready for a new run, or fails if nothing can be written there. A run that is in it already is
// kept: its directory gets a number. Returns the name it was given, or nothing.
std::string prepare_directory(const std::string& path);

}  // namespace babygpt
