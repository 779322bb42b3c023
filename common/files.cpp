#include "common/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/error.h"

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
    if (good && rename(temporary.c_str(), path.c_str()) == 0) return;
    if (good) error = errno;
    if (file >= 0) unlink(temporary.c_str());
    fail("cannot write ", path, ": ", std::strerror(error), "; what was there before is unchanged");
}

std::string prepare_directory(const std::string& path) {
    std::error_code error;
    std::string kept;
    if (fs::exists(path, error) && !fs::is_directory(path, error)) fail("--out ", path, " is a file; name a directory");
    if (fs::exists(path + "/run.json", error)) {
        int number = 1;
        std::string bare = path;
        while (bare.size() > 1 && bare.back() == '/') bare.pop_back();
        do kept = str(bare, ".", number++);
        while (fs::exists(kept, error));
        fs::rename(bare, kept, error);
        if (error)
            fail("cannot move the earlier run in ", path, " out of the way: ", error.message(),
                 "; choose another --out");
    } else if (fs::is_directory(path, error) && !fs::is_empty(path, error)) {
        for (const auto& entry : fs::directory_iterator(path, error)) {
            std::string name = entry.path().filename();  // what a run without its end leaves may be written over
            if (name != "metrics.csv" && name != "samples.txt" && !name.starts_with("model.safetensors") &&
                !name.starts_with("resume.safetensors"))
                fail("--out ", path, " holds other files (", name, "); choose a new directory");
        }
    }
    fs::create_directories(path, error);
    if (error || access(path.c_str(), W_OK | X_OK) != 0)
        fail("cannot write to --out ", path, ": ", error ? error.message() : std::strerror(errno));
    return kept;
}

}  // namespace babygpt
