#include "common/app/main.h"

#include "common/app/command_line.h"
#include "common/app/sample.h"
#include "common/train/train.h"

namespace babygpt {

int run_stage(int argc, char** argv, const Options& defaults, const MakeModel& make_model, const Train& train) {
    return guarded(defaults.stage, [&] {
        Options options = defaults;
        if (parse_options(argc, argv, options) == Command::sample)
            return sample_from_run(options, defaults, make_model);
        if (options.resume) {  // what the command line does not say is as it was
            Options as_it_was = saved_options(options.out, defaults);
            as_it_was.out = options.out;
            parse_options(argc, argv, options = as_it_was, defaults);
        }
        if (train) return train(options);
        Corpus corpus = load_corpus(options.data);
        check_fit(options, corpus);
        train_objective(options, LanguageModelling(options, corpus, make_model));
    });
}

}  // namespace babygpt
