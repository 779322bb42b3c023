#include "common/app/sample.h"

#include <filesystem>

#include "common/write/writing.h"

namespace babygpt {

void sample_from_run(const Options& options, const Options& stage, const MakeModel& make_model,
                     const MakeWriter& make_writer) {
    std::string file = best_file(options.model);
    SavedModel saved = load_model(file, stage);
    auto model = make_from(saved.checkpoint, file, make_model, saved.options, saved.vocabulary.size());
    write_sample(make_writer(*model, saved.options.block_size), saved.vocabulary, options, training_text(saved));
}

std::optional<std::vector<int>> training_text(const SavedModel& saved) {
    try {
        const std::string& data = saved.options.data;
        std::error_code error;  // a directory that may not be entered is no reason to fail, a pipe would wait
        if (std::filesystem::exists(data, error) && !std::filesystem::is_regular_file(data, error)) return {};
        Corpus corpus = load_corpus(data);
        if (corpus.hash == saved.corpus_hash) return corpus.train;
    } catch (const Error&) {  // it is not at hand: nothing to compare with
    }
    return {};
}

}  // namespace babygpt
