#include "common/base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/base/error.h"

namespace babygpt {

namespace fs = std::filesystem;

void write_whole(const std::string& path, std::string_view bytes) {
    std::string temporary = path + ".new";
    int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = file >= 0;
    for (size_t done = 0; good && done < bytes.size();) {
        ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
        if (written > 0) done += size_t(written);
        good = written > 0 || (written < 0 && errno == EINTR);
    }
    good = good && fsync(file) == 0;
    int error = errno;
    if (file >= 0) close(file);
    if (good && rename(temporary.c_str(), path.c_str()) == 0) {
        int directory = open(fs::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (directory >= 0) fsync(directory), close(directory);  // so that the new name survives a power cut
        return;
    }
    if (good) error = errno;
    if (file >= 0) unlink(temporary.c_str());
    fail("cannot write ", path, ": ", std::strerror(error), "; what was there before is unchanged");
}

}  // namespace babygpt
