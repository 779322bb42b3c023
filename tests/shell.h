// The programs as a user types them: through a shell, in a directory of their own that is gone afterwards.
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/tensor/real.h"
#include "tests/temporary.h"

namespace babygpt {

// The stages that train, or count: those whose source starts a run, in order.
extern const std::vector<std::string> all_stages;
extern const std::vector<std::string> trained_stages;

// make sanitize names the directory of programs that are built for sanitizers, and dozens of times slower.
inline const char* const sanitized = std::getenv("SANITIZED");
// For long tests: all, or some of each kind where a sanitizer makes them too long.
extern const std::vector<std::string> several_stages;

struct Result {
    int code;
    std::string out, err;
};

class Shell {
  public:
    Shell();

    // Runs a line of bash where the programs are found by their names, and standard input is empty.
    Result operator()(const std::string& line) const;

    std::filesystem::path path(const std::string& name) const { return home / "work" / name; }
    bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }
    std::string read(const std::string& name) const;
    void write(const std::string& name, const std::string& bytes) const;

    // Every file below the directory, and what is in it; directories end in a slash.
    std::map<std::string, std::string> files(const std::string& below = "") const;

    static bool ready();

  private:
    TemporaryDirectory own;
    const std::filesystem::path& home = own.path;
};

// The programs are built in float only, and not by every target that builds the tests.
inline auto with_programs() { return doctest::skip(sizeof(real) == 8 || !Shell::ready()); }

bool says(const std::string& text, const std::string& words);
bool is_one_line(const std::string& text);

// The command has to fail with one line on stderr that holds these words and leave every file as it was.
Result refuses(const Shell& shell, const std::string& line, const std::string& words);

// Why a command did not succeed: the first line on stderr that is not one of the programs' remarks, or its exit code.
std::string trouble(const Result& result);

// The command has to succeed in all its parts, with nothing but remarks on stderr.
std::string works(const Shell& shell, const std::string& line);

// A small text, and a stage's command line that trains on it for a moment.
void write_small_text(const Shell& shell);
std::string quick(const std::string& stage, int steps = 5);
// The same as `lines`, a sentence on each, as 13 to 16 read a file.
void write_lines(const Shell& shell);

// A checkpoint's tensors: their names, shapes and bytes, without the metadata.
std::string tensors(const Shell& shell, const std::string& file);

using Cells = std::vector<std::string>;

// One column of metrics.csv after another: steps, losses, and what depends on the clock.
std::vector<Cells> columns(const std::string& csv);

}  // namespace babygpt
