#include "common/train/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "common/base/error.h"

namespace babygpt {

namespace fs = std::filesystem;

DirectoryLock::DirectoryLock(const std::string& path) {
    for (;;) {
        descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (descriptor < 0) return;
        bool taken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        struct stat locked, named;
        if (!taken && fstat(descriptor, &locked) == 0 && stat(path.c_str(), &named) == 0 &&
            locked.st_ino == named.st_ino && locked.st_dev == named.st_dev)
            return;
        close(descriptor);
        if (taken) fail("another run is writing to ", path, "; wait for its end, or choose another --out");
    }  // between opening and locking it was moved away: what has its name now is another one
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
}

DirectoryLock::~DirectoryLock() {
    if (descriptor >= 0) close(descriptor);
}

namespace {

const std::set<std::string> files{"run.json",          "metrics.csv",        "samples.txt",
                                  "model.safetensors", "resume.safetensors", "config.json",
                                  "vocab.txt",         "heads.svg",          "snapshots"};

void check_contents(const std::string& path) {
    std::error_code error;
    fs::path above = fs::absolute(path);  // the directory, or the nearest one above it that exists
    fs::file_status what;
    while (what = fs::status(above, error), !fs::exists(what)) above = above.parent_path();
    if (!fs::is_directory(what))
        fail("cannot write to --out ", path, ": ", above.string(), " is a file; name a directory");
    if (access(above.c_str(), W_OK | X_OK) != 0 && errno != ENOENT)  // by now another run may have moved it away
        fail("cannot write to --out ", path, ": ", std::strerror(errno));
    if (above != fs::absolute(path) || fs::exists(path + "/run.json", error)) return;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
        std::string name = entry.path().filename();
        if (!files.contains(name) && !(name.ends_with(".new") && files.contains(name.substr(0, name.size() - 4))))
            fail("--out ", path, " holds other files (", name, "); choose a new directory");
    }
}

}  // namespace

void check_directory(const std::string& path) {
    DirectoryLock nobody_else(path);
    check_contents(path);
}

void check_no_file_of(const std::string& run, const std::string& path) {
    std::error_code error;
    for (const std::string& name : files)
        if (fs::equivalent(path, run + "/" + name, error))
            fail(path, " belongs to the run in ", run, "; choose another name");
}

NewDirectory make_directory(const std::string& given) {
    std::string kept;
    std::error_code none;
    const std::string path = fs::is_symlink(given, none) ? fs::weakly_canonical(given, none).string() : given;
    for (;;) {  // until it is empty and ours: only who has locked a directory may move it or write to it
        check_contents(path);
        std::error_code error;
        fs::create_directories(path, error);
        if (error) fail("cannot write to --out ", path, ": ", error.message());
        DirectoryLock lock(path);
        if (!lock.held() && errno == ENOENT) continue;  // another run has just moved it away
        if (!lock.held()) fail("cannot write to --out ", path, ": ", std::strerror(errno));
        if (fs::is_empty(path, error)) return {std::move(lock), kept};
        int number = 1;
        do kept = str(path, ".", number++);
        while (fs::exists(kept, error));
        fs::rename(path, kept, error);
        if (error)
            fail("cannot move the earlier run in ", path, " out of the way: ", error.message(),
                 "; choose another --out");
    }
}

}  // namespace babygpt
