// The programs as a user types them: through a shell, in a directory of their own that is gone afterwards.
#pragma once
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "common/tensor/real.h"
#include "tests/temporary.h"

namespace babygpt {

// The stages that train, or count: those whose source starts a run, in order.
inline const std::vector<std::string> all_stages = [] {
    std::vector<std::string> names;
    std::error_code elsewhere;  // a test may start this program in a directory of its own, where there are none
    for (const auto& entry : std::filesystem::directory_iterator("stages", elsewhere)) {
        std::ifstream file(entry.path());
        std::string source{std::istreambuf_iterator<char>(file), {}};
        bool runs = source.find("run_stage<Model>") != source.npos || source.find("Run run(") != source.npos;
        if (source.find("<mpi.h>") != source.npos) continue;  // built, and tested, by make test-mpi
        if (runs) names.push_back(entry.path().stem());
    }
    std::sort(names.begin(), names.end());
    return names;
}();
inline const std::vector<std::string> trained_stages = [] {
    std::vector<std::string> names = all_stages;
    std::erase(names, "00_counts");
    return names;
}();

// make sanitize names the directory of programs that are built for sanitizers, and dozens of times slower.
inline const char* const sanitized = std::getenv("SANITIZED");
// For long tests: all, or some of each kind where a sanitizer makes them too long.
inline const std::vector<std::string> several_stages =
    sanitized ? std::vector<std::string>{"00_counts", "01_bigram", "04_multihead", "10_gpt", "12_relative"}
              : all_stages;

struct Result {
    int code;
    std::string out, err;
};

class Shell {
  public:
    Shell() { std::filesystem::create_directory(home / "work"); }

    // Runs a line of bash where the programs are found by their names, and standard input is empty.
    Result operator()(const std::string& line) const {
        put(home / "line", line);
        std::string in = "cd '" + (home / "work").string() + "'; export PATH='" + programs().string() + "':$PATH; ";
        std::string log = "export ASAN_OPTIONS=\"$ASAN_OPTIONS:log_path='" + (home / "sanitizer").string() + "'\"; ";
        std::string run = std::string("exec timeout -k 5 ") + (sanitized ? "600" : "60");
        int status = std::system((in + log + run + " bash ../line >../out 2>../err </dev/null").c_str());
        Result result{WEXITSTATUS(status), get(home / "out"), get(home / "err")};
        // The address sanitizer reports to a file, sanitizer.PID, the one of undefined behaviour to stderr.
        if (result.err.find(": runtime error: ") != std::string::npos) FAIL(line, "\n", result.err);
        for (const auto& entry : std::filesystem::directory_iterator(home))
            if (entry.path().stem() == "sanitizer") FAIL(line, "\n", get(entry.path()));
        return result;
    }

    std::filesystem::path path(const std::string& name) const { return home / "work" / name; }
    bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }
    std::string read(const std::string& name) const { return get(path(name)); }
    void write(const std::string& name, const std::string& bytes) const { put(path(name), bytes); }

    // Every file below the directory, and what is in it; directories end in a slash.
    std::map<std::string, std::string> files(const std::string& below = "") const {
        std::map<std::string, std::string> all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path(below))) {
            std::string name = std::filesystem::relative(entry.path(), path(below)).string();
            if (entry.is_directory())
                all[name + "/"];
            else
                all[name] = get(entry.path());
        }
        return all;
    }

    static bool ready() { return std::filesystem::exists(programs() / "report"); }

  private:
    // They stand beside the tests, unless others are to be tested.
    static std::filesystem::path programs() {
        return sanitized ? sanitized : std::filesystem::read_symlink("/proc/self/exe").parent_path();
    }
    static std::string get(const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    static void put(const std::filesystem::path& file, const std::string& bytes) {
        std::ofstream(file, std::ios::binary) << bytes;
    }

    TemporaryDirectory own;
    const std::filesystem::path& home = own.path;
};

// The programs are built in float only, and not by every target that builds the tests.
inline auto with_programs() { return doctest::skip(sizeof(real) == 8 || !Shell::ready()); }

inline bool says(const std::string& text, const std::string& words) { return text.find(words) != text.npos; }
inline bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == text.size() - 1; }

// The command has to fail with one line on stderr that holds these words and leave every file as it was.
inline Result refuses(const Shell& shell, const std::string& line, const std::string& words) {
    INFO(line);
    auto before = shell.files();
    Result result = shell(line);
    INFO("it said: ", result.err);
    CHECK(result.code == 2);
    CHECK(is_one_line(result.err));
    CHECK(says(result.err, words));
    CHECK(shell.files() == before);
    return result;
}

// Why a command did not succeed: the first line on stderr that is not one of the programs' remarks, or its exit code.
inline std::string trouble(const Result& result) {
    std::istringstream lines(result.err);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("longest run also in the training text: ") && !line.starts_with("a prompt a line; "))
            return line;
    return result.code == 0 ? "" : "exit code " + std::to_string(result.code);
}

// The command has to succeed in all its parts, with nothing but remarks on stderr.
inline std::string works(const Shell& shell, const std::string& line) {
    INFO(line);
    Result result = shell("set -eo pipefail\n" + line);
    CHECK_MESSAGE(trouble(result) == "", result.err);
    return result.out;
}

// A small text, and a stage's command line that trains on it for a moment.
inline void write_small_text(const Shell& shell) { works(shell, "corpus write tales --bytes 4000 > text"); }
inline std::string quick(const std::string& stage, int steps = 5) {
    std::string line = stage + " --data text --tokens 20";
    if (stage == "00_counts") return line;
    return line + " --batch-size 4 --block-size 8 --eval-interval 2 --eval-batches 2 --steps " + std::to_string(steps);
}

// A checkpoint's tensors: their names, shapes and bytes, without the metadata.
inline std::string tensors(const Shell& shell, const std::string& file) {
    std::string bytes = shell.read(file);
    REQUIRE_MESSAGE(bytes.size() > 8, file);
    uint64_t length;
    std::copy_n(bytes.data(), 8, reinterpret_cast<char*>(&length));
    nlohmann::json header = nlohmann::json::parse(bytes.substr(8, length));
    header.erase("__metadata__");
    return header.dump() + bytes.substr(8 + length);
}

using Cells = std::vector<std::string>;

// One column of metrics.csv after another: steps, losses, and what depends on the clock.
inline std::vector<Cells> columns(const std::string& csv) {
    std::vector<Cells> table;
    std::istringstream lines(csv);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream cells(line);
        std::string cell;
        for (size_t i = 0; std::getline(cells, cell, ','); ++i) {
            if (table.size() <= i) table.resize(i + 1);
            table[i].push_back(cell);
        }
    }
    return table;
}

}  // namespace babygpt
