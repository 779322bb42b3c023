// What the main of a stage does that trains nothing, but lets another stage's model write in several ways.
#pragma once
#include "common/app/command_line.h"
#include "common/app/guarded.h"
#include "common/app/sample.h"
#include "common/train/run_directory.h"
#include "common/write/cached_writer.h"
#include "common/write/writing.h"

namespace babygpt {

// Loads a model that `trained_by` saved, compares the ways to write with it, unless the command is sample, and lets the
// last of them write. Returns the exit code.
template <class Model, class MakeWriters>
int run_writers(int argc, char** argv, const Options& defaults, const std::string& trained_by,
                MakeWriters make_writers) {
    return guarded(defaults.stage, [&] {
        Options options = defaults;
        Command command = parse_options(argc, argv, options);
        std::string file = best_file(options.model);
        SavedModel saved = load_model(file, {.stage = trained_by, .n_embd = 1, .n_head = 1, .n_layer = 1});
        auto model = make_from(saved.checkpoint, file, maker<Model>(), saved.options, saved.vocabulary.size());
        options.block_size = saved.options.block_size;
        std::vector<Writer> writers = make_writers(*model, saved.options);
        if (command == Command::compare) compare_writers(writers, options);
        write_sample(writers.back().next, saved.vocabulary, options, training_text(saved));
    });
}

}  // namespace babygpt
