#include "docs/workshop/models.h"

#include <filesystem>

#include "common/base/format.h"
#include "tests/parity/stages.h"

namespace babygpt::workshop {

namespace {

constexpr size_t most_kept = 40;

}  // namespace

const Module& Opened::module() const {
    if (writer) return *writer;
    if (reader) return *reader;
    return *translator;
}

Task task_of(const std::string& stage) {
    if (stages.contains(stage)) return Task::write;
    if (bert_stages.contains(stage)) return Task::fill;
    if (translator_stages.contains(stage)) return Task::translate;
    fail("the workshop cannot look into a model of ", brief(stage));
}

bool has_attention(const std::string& stage) {
    return bert_stages.contains(stage) || translator_stages.contains(stage) || (stages.contains(stage) && stage > "03");
}

std::shared_ptr<const Opened> Models::open(const std::string& file) {
    std::lock_guard one_at_a_time(mutex);
    std::error_code error;
    auto time = std::filesystem::last_write_time(file, error).time_since_epoch().count();
    std::string key = str(file, " ", time, " ", std::filesystem::file_size(file, error));
    for (auto it = kept.begin(); it != kept.end(); ++it)
        if (it->key == key) {
            kept.splice(kept.begin(), kept, it);
            return it->model;
        }
    std::string stage = saved_by(file);
    Task task = task_of(stage);
    SavedModel saved = load_model(file, {.stage = stage, .task = task});
    auto opened = std::make_shared<Opened>(Opened{saved.options, CharacterTokenizer(saved.vocabulary)});
    opened->options.task = task;
    opened->step = std::atoi(saved.checkpoint.about("step", file).c_str());
    NoInitWeights from_file;
    Rng unused(0);
    if (task == Task::write) {
        opened->writer = stages.at(stage)(saved.options, saved.vocabulary.size(), unused);
        restore(opened->writer->parameters, saved.checkpoint, "", file);
    } else {
        BertConfig config = bert_config(saved.options, opened->tokenizer.size());
        if (task == Task::fill)
            opened->reader = make_from(saved.checkpoint, file, bert_stages.at(stage), config);
        else
            opened->translator = make_from(saved.checkpoint, file, translator_stages.at(stage), config);
    }
    kept.push_front({key, opened});
    if (kept.size() > most_kept) kept.pop_back();
    return opened;
}

}  // namespace babygpt::workshop
