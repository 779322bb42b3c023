#include "tests/shell.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

namespace babygpt {

namespace {

std::string get(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
void put(const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
}

// They stand beside the tests, unless others are to be tested.
std::filesystem::path programs() {
    return sanitized ? sanitized : std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace

const std::vector<std::string> all_stages = [] {
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
const std::vector<std::string> trained_stages = [] {
    std::vector<std::string> names = all_stages;
    std::erase(names, "00_counts");
    return names;
}();

const std::vector<std::string> several_stages =
    sanitized ? std::vector<std::string>{"00_counts", "01_bigram", "04_multihead", "10_gpt", "12_relative"}
              : all_stages;

Shell::Shell() { std::filesystem::create_directory(home / "work"); }

Result Shell::operator()(const std::string& line) const {
    put(home / "line", line);
    std::string in = "cd '" + (home / "work").string() + "'; export PATH='" + programs().string() + "':$PATH; ";
    std::string log = "export ASAN_OPTIONS=\"$ASAN_OPTIONS:log_path='" + (home / "sanitizer").string() + "'\"; ";
    std::string run = "exec timeout -k 5 600 bash ../line >../out 2>../err </dev/null";  // some lines start hundreds
    int status = std::system((in + log + run).c_str());
    Result result{WEXITSTATUS(status), get(home / "out"), get(home / "err")};
    // The address sanitizer reports to a file, sanitizer.PID, the one of undefined behaviour to stderr.
    if (result.err.find(": runtime error: ") != std::string::npos) FAIL(line, "\n", result.err);
    for (const auto& entry : std::filesystem::directory_iterator(home))
        if (entry.path().stem() == "sanitizer") FAIL(line, "\n", get(entry.path()));
    return result;
}

std::string Shell::read(const std::string& name) const { return get(path(name)); }
void Shell::write(const std::string& name, const std::string& bytes) const { put(path(name), bytes); }

std::map<std::string, std::string> Shell::files(const std::string& below) const {
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

bool Shell::ready() { return std::filesystem::exists(programs() / "report"); }

bool says(const std::string& text, const std::string& words) { return text.find(words) != text.npos; }
bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == text.size() - 1; }

Result refuses(const Shell& shell, const std::string& line, const std::string& words) {
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

std::string trouble(const Result& result) {
    std::istringstream lines(result.err);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("longest run also in the training text: ") && !line.starts_with("a prompt a line; ") &&
            !line.starts_with("warning: the translation of "))
            return line;
    return result.code == 0 ? "" : "exit code " + std::to_string(result.code);
}

std::string works(const Shell& shell, const std::string& line) {
    INFO(line);
    Result result = shell("set -eo pipefail\n" + line);
    CHECK_MESSAGE(trouble(result) == "", result.err);
    return result.out;
}

void write_small_text(const Shell& shell) { works(shell, "corpus write tales --bytes 4000 > text"); }
void write_lines(const Shell& shell) { works(shell, "corpus write tales --bytes 8000 | sed 's/[.] /.\\n/g' > lines"); }
std::string quick(const std::string& stage, int steps) {
    std::string line = stage + " --data text --tokens 20";
    if (stage == "00_counts") return line;
    if (stage >= "10_gpt") line += " --n-embd 32 --n-layer 2";  // the default is a larger one
    return line + " --batch-size 4 --block-size 8 --eval-interval 2 --eval-batches 2 --steps " + std::to_string(steps);
}

std::string tensors(const Shell& shell, const std::string& file) {
    std::string bytes = shell.read(file);
    REQUIRE_MESSAGE(bytes.size() > 8, file);
    uint64_t length;
    std::copy_n(bytes.data(), 8, reinterpret_cast<char*>(&length));
    nlohmann::json header = nlohmann::json::parse(bytes.substr(8, length));
    header.erase("__metadata__");
    return header.dump() + bytes.substr(8 + length);
}

std::vector<Cells> columns(const std::string& csv) {
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
