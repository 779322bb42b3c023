// Files that are whole or not there, and the directory of a run.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace babygpt {

// "-" is standard input. Fails on a file of more bytes than `most`.
std::string read_file(const std::string& path, size_t most = SIZE_MAX);

// Writes a temporary file beside the path, flushes it to the disk and renames it: a crash or a full disk at any moment
// leaves the old file or the new one, never half of one. Fails with the reason.
void write_whole(const std::string& path, std::string_view bytes);

// Fails if a new run cannot be written to the directory, or if it holds files of another kind. Changes nothing.
void check_directory(const std::string& path);

// Keeps other runs out of the directory until the program ends, or the descriptor returned is closed.
int lock_directory(const std::string& path);

// Makes the directory for a new run. A run that is in it already, finished or not, is kept: its directory gets a
// number. Returns the name it was given, or nothing.
std::string prepare_directory(const std::string& path);

// Fails if standard output does not take what was printed.
void flush_output();

}  // namespace babygpt
