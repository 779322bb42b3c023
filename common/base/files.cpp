#include "common/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>

#include "common/base/error.h"

namespace babygpt {

namespace fs = std::filesystem;

std::string read_file(const std::string& path, size_t most) {
    std::string name = path == "-" ? "standard input" : path;
    std::error_code ignored;
    if (path != "-" && fs::is_directory(path, ignored)) fail(path, " is a directory; give a file");
    auto close = [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); };
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
    if (!file) fail("cannot read ", name, ": ", std::strerror(errno));
    std::string bytes;
    constexpr size_t piece = size_t{1} << 20;
    for (size_t size = 0, got = piece; got > 0; bytes.resize(size += got)) {
        bytes.resize(size + piece);
        got = std::fread(bytes.data() + size, 1, piece, file.get());
        if (std::ferror(file.get())) fail("cannot read ", name, ": ", std::strerror(errno));
        if (size + got > most)
            fail("not enough memory: ", name, " has more than ", most / 1'000'000, " MB; cut a piece from it");
    }
    return bytes;
}

bool read_line(std::string& line) {
    errno = 0;
    if (!std::getline(std::cin, line)) {
        if (std::ferror(stdin)) fail("cannot read standard input: ", std::strerror(errno));
        return false;
    }
    if (line.ends_with('\r')) line.pop_back();
    return true;
}

MappedFile::MappedFile(const std::string& path) {
    struct stat about;
    auto check = [&](bool good) {
        if (!good) fail("cannot read ", path, ": ", std::strerror(errno));
    };
    check(stat(path.c_str(), &about) == 0);
    if (S_ISDIR(about.st_mode)) fail(path, " is a directory; give a file");
    if (!S_ISREG(about.st_mode)) fail(path, " is not a file on a disk; copy it to one");
    int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    check(file >= 0 && fstat(file, &about) == 0);
    size = size_t(about.st_size);
    void* mapped = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;  // nothing cannot be mapped
    int error = errno;
    close(file);
    errno = error;
    check(mapped != MAP_FAILED);
    data = static_cast<const char*>(mapped);
}

MappedFile::~MappedFile() {
    if (size) munmap(const_cast<char*>(data), size);
}

void write_whole(const std::string& path, std::string_view bytes, Flush flush) {
    std::error_code unknown;
    fs::file_status what = fs::status(path, unknown);
    bool device = path.starts_with("/dev/std") || path.starts_with("/dev/fd/") || fs::is_other(what);  // not replaced
    std::string temporary = device ? path : path + ".new";
    int file = open(temporary.c_str(), O_WRONLY | O_CLOEXEC | (device ? O_APPEND : O_CREAT | O_TRUNC), 0666);
    bool good = file >= 0;
    for (size_t done = 0; good && done < bytes.size();) {
        ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
        if (written > 0) done += size_t(written);
        good = written > 0 || (written < 0 && errno == EINTR);
    }
    good = good && (device || flush == Flush::no || fsync(file) == 0);
    int error = errno;
    if (file >= 0 && close(file) != 0 && good)
        good = false, error = errno;  // some disks tell only now that they are full
    if (good && device) return;
    if (good && rename(temporary.c_str(), path.c_str()) == 0) {
        if (flush == Flush::no) return;
        int directory = open((fs::path(".") / path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (directory >= 0) fsync(directory), close(directory);  // so that the new name survives a power cut
        return;
    }
    if (good) error = errno;
    if (file >= 0 && !device) unlink(temporary.c_str());
    fail("cannot write ", path, ": ", std::strerror(error), device ? "" : "; what was there before is unchanged");
}

void flush_output() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        fail("cannot write to standard output: ", std::strerror(errno));
}

}  // namespace babygpt
