#include "docs/workshop/models.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/base/files.h"
#include "common/base/format.h"
#include "docs/workshop/stages.h"

namespace babygpt::workshop {

namespace {

constexpr size_t most_kept = 200'000'000;  // bytes: ten runs' snapshots
constexpr size_t largest_model = 1'000'000'000;
constexpr uint64_t largest_header = 20'000'000;

}  // namespace

const Module& Opened::module() const {
    if (writer) return *writer;
    if (reader) return *reader;
    return *translator;
}

const std::map<std::string, MakeBert>& readers() { return bert_stages; }

Task task_of(const std::string& stage) {
    if (stages.contains(stage)) return Task::write;
    if (readers().contains(stage)) return Task::fill;
    if (translator_stages.contains(stage)) return Task::translate;
    fail("the workshop cannot look into a model of ", brief(stage));
}

bool has_attention(const std::string& stage) {
    return readers().contains(stage) || translator_stages.contains(stage) || (stages.contains(stage) && stage > "03");
}

std::string changed(const std::string& program, const std::string& stage) {
    return str(brief(program), " is ", stage, " with a change, and the workshop has only the stages themselves");
}

std::string version_of(const std::string& file) {
    struct stat about = {};
    stat(file.c_str(), &about);
    return str(file, " ", about.st_ino, " ", about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec, " ",
               about.st_size);
}

void refuse_pipe(const std::string& file) {
    std::error_code error;
    if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error))
        fail(file, " is not a file on a disk; copy it to one");
}

std::string read_at_most(const std::string& file, size_t most) {
    std::error_code error;
    if (auto size = std::filesystem::file_size(file, error); !error && size > most)
        fail(file, " has more than ", most / 1'000'000, " MB; the workshop reads no more");
    return read_file(file, most);
}

std::string read_model(const std::string& file) {
    refuse_pipe(file);
    return read_at_most(file, largest_model);
}

std::map<std::string, std::string> read_metadata(const std::string& file) {
    refuse_pipe(file);
    std::ifstream in(file, std::ios::binary);
    if (!in) fail("cannot read ", file);
    std::string bytes(8, '\0');
    uint64_t length = 0;
    if (!in.read(bytes.data(), 8)) {
        bytes.resize(size_t(in.gcount()));
    } else {
        std::memcpy(&length, bytes.data(), 8);
        std::string header(std::min(length, largest_header), '\0');
        in.read(header.data(), std::streamsize(header.size()));
        bytes += header.substr(0, size_t(in.gcount()));
    }
    return metadata_of(bytes, file);
}

std::shared_ptr<const Opened> Models::open(const std::string& file) {
    std::lock_guard one_at_a_time(mutex);
    std::string version = version_of(file);
    for (auto it = kept.begin(); it != kept.end(); ++it)
        if (it->version == version) {
            kept.splice(kept.begin(), kept, it);
            return it->model;
        }
    std::string bytes = read_model(file), stage = metadata_of(bytes, file)["stage"];
    Task task = task_of(stage);
    SavedModel saved = parse_model(bytes, file, {.stage = stage, .task = task});
    if (!saved.options.program.empty()) fail(changed(saved.options.program, stage));
    auto opened = std::make_shared<Opened>(Opened{saved.options, CharacterTokenizer(saved.vocabulary)});
    opened->options.task = task;
    opened->step = std::atoi(saved.checkpoint.about("step", file).c_str());
    if (task == Task::write) {
        opened->writer = make_from(saved.checkpoint, file, stages.at(stage), saved.options, saved.vocabulary.size());
    } else {
        BertConfig config = bert_config(saved.options, opened->tokenizer.size());
        if (task == Task::fill)
            opened->reader = make_from(saved.checkpoint, file, readers().at(stage), config);
        else
            opened->translator = make_from(saved.checkpoint, file, translator_stages.at(stage), config);
    }
    size_t size = 0;
    for (const auto& [name, tensor] : opened->module().parameters) size += tensor.count() * sizeof(real);
    kept.push_front({version, size, opened});
    size_t total = 0;
    std::erase_if(kept, [&](const Kept& each) { return (total += each.bytes) > most_kept && each.model != opened; });
    return opened;
}

}  // namespace babygpt::workshop
