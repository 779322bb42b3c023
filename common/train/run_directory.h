// The directory of a run: one run at a time writes to it, and an earlier one is never overwritten.
#pragma once
#include <string>

namespace babygpt {

// The file of the best model of a run.
inline std::string best_file(const std::string& directory) { return directory + "/model.safetensors"; }

// Keeps other runs out of a directory as long as it lives; does nothing where there is no such directory. Fails if
// another run is in it.
class DirectoryLock {
  public:
    DirectoryLock() = default;
    explicit DirectoryLock(const std::string& path);
    DirectoryLock(DirectoryLock&& other) noexcept;
    DirectoryLock& operator=(DirectoryLock&& other) noexcept;
    ~DirectoryLock();
    bool held() const { return descriptor >= 0; }

  private:
    int descriptor = -1;
};

// Fails if a new run cannot be written to the directory, or if it holds files of another kind. Changes nothing.
void check_directory(const std::string& path);

// Fails if the path is that of a file which belongs to the run in a directory: writing it would damage the run.
void check_no_file_of(const std::string& run, const std::string& path);

// An empty directory for a new run. A run that was in it, finished or not, is kept: its directory gets a number.
struct NewDirectory {
    DirectoryLock lock;
    std::string kept;  // the earlier run's new name, or nothing
};
NewDirectory make_directory(const std::string& path);

}  // namespace babygpt
