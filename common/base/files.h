// Files: read, mapped, and written whole or not at all.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace babygpt {

// "-" is standard input. Fails on a file of more bytes than `most`.
std::string read_file(const std::string& path, size_t most = SIZE_MAX);

// The next line of standard input, without its end, which may be Windows's; false if there is none.
bool read_line(std::string& line);

// The bytes of a file where the system has them, without a copy. Nobody may change the file while this lives;
// write_whole may replace it by another.
class MappedFile {
  public:
    explicit MappedFile(const std::string& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    std::string_view bytes() const { return {data, size}; }

  private:
    const char* data = nullptr;
    size_t size = 0;
};

// Writes a temporary file beside the path, flushes it to the disk and renames it: a crash or a full disk at any moment
// leaves the old file or the new one, never half of one. Fails with the reason. What may be lost with the power need
// not wait for the disk.
enum class Flush { yes, no };
void write_whole(const std::string& path, std::string_view bytes, Flush flush = Flush::yes);

// Fails if standard output does not take what was printed.
void flush_output();

}  // namespace babygpt
