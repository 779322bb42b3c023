#include "common/app/main.h"

#include <cstdio>
#include <filesystem>

#include "common/app/command_line.h"
#include "common/app/sample.h"
#include "common/tensor/gemm.h"
#include "common/train/agreement.h"
#include "common/train/ranks.h"
#include "common/train/resume.h"
#include "common/train/training_loop.h"

namespace babygpt {

namespace {

// The serial OpenBLAS may stand in for the threaded one under the same name. It serves one caller at a time.
void heed_serial_blas(Options& options) {
    if (blas_takes_threads() || thread_count(options) == 1) return;
    options.threads = 1;
    if (!ranks::first()) return;
    std::fprintf(
        stderr,
        "%s: the OpenBLAS here is the serial one, so it runs on one thread; libopenblas0-pthread has the other\n",
        options.stage.c_str());
}

}  // namespace

void prepare_training(int argc, char** argv, Options& options, const Options& stage) {
    agree_on_program(options);
    if (options.resume) {  // what the command line does not say is as it was
        Options as_it_was = saved_options(options.out, stage);
        as_it_was.out = options.out;
        parse_options(argc, argv, options = as_it_was, stage);
    }
    std::string name = std::filesystem::path(argv[0]).filename();
    if (name != stage.stage) options.program = name;  // a run keeps it though the stage itself goes on with it
    if (!options.threads && ranks::count() > 1) options.threads = ranks::threads();
    heed_serial_blas(options);
}

int run_stage(int argc, char** argv, const Options& defaults, const MakeModel& make_model, const Train& train,
              const MakeWriter& make_writer) {
    return guarded(defaults.stage, [&] {
        Options options = defaults;
        if (parse_options(argc, argv, options) == Command::sample)
            return sample_from_run(options, defaults, make_model, make_writer);
        prepare_training(argc, argv, options, defaults);
        if (train) return train(options);
        Corpus corpus = load_corpus(options.data);
        check_fit(options, corpus);
        train_objective(options, LanguageModelling(options, corpus, make_model, make_writer));
    });
}

}  // namespace babygpt
