#include "common/train/resume.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/base/format.h"
#include "common/train/ranks.h"
#include "common/train/training_run.h"

namespace babygpt {

namespace {

using Json = nlohmann::json;

std::vector<Module::Parameter> named(const std::vector<Module::Parameter>& names, const std::vector<Tensor>& tensors) {
    std::vector<Module::Parameter> list;
    for (size_t i = 0; i < names.size(); ++i) list.push_back({names[i].name, tensors[i]});
    return list;
}

// Calls f with each option of the stage that is kept only to resume.
template <class F>
void for_settings(const Options& stage, F f) {
    for (const Option& option : option_table())
        if (option.saved == Saved::to_resume && option.has(stage)) f(option);
}

std::string resume_file(const std::string& directory) { return directory + "/resume.safetensors"; }

// Reads from the state in a resume file; what no run wrote is one clear error.
template <class F>
void read_state(const Checkpoint& saved, const std::string& file, F read) {
    try {
        read(Json::parse(saved.about("state", file)));
    } catch (const Json::exception&) {
        fail(file, " is damaged: its state is not one a run wrote");
    }
}

}  // namespace

Options saved_options(const std::string& directory, const Options& stage) {
    std::string file = resume_file(directory);
    std::error_code error;
    if (ranks::first() && !std::filesystem::exists(file, error) && !error)  // load_model tells the error
        fail("there is no run to resume in ", directory, " (no ", file, "); leave out --resume to begin one");
    SavedModel saved = load_model(file, stage);
    Options options = saved.options;
    read_state(saved.checkpoint, file, [&](const Json& state) {
        if (state.value("ranks", 1) != ranks::count()) options.threads = 0;  // the cores are shared in another way
        Json settings = state.value("settings", Json::object());
        for_settings(stage, [&](const Option& option) {
            if (!settings.contains(option.name)) return;
            std::visit([&](auto field) { settings[option.name].get_to(options.*field); }, option.field);
            if (!option.fits(options)) fail(file, " is damaged: its ", option.name, " is not ", option.wanted());
        });
    });
    return options;
}

int TrainingRun::resume(Module& model, AdamW& optimiser, Rng& batches) {
    if (!options.resume) return 0;
    std::string file = resume_file(options.out), of_best = best_file(options.out);
    SavedModel saved = load_model(file, options);
    Options same = options;
    same.steps = saved.options.steps;  // a run may be made longer
    int saved_by_ranks = 1;
    read_state(saved.checkpoint, file, [&](const Json& state) { saved_by_ranks = state.value("ranks", 1); });
    if (saved_by_ranks != ranks::count()) same.threads = saved.options.threads;
    if (std::string what = difference(same, saved.options); !what.empty())
        fail("cannot resume ", options.out, ": ", what);
    if (objective.describe(model, 0, {}).about("corpus_hash", file) != saved.checkpoint.about("corpus_hash", file))
        fail("cannot resume ", options.out, ": the text ", options.data, " has changed since");
    if (ranks::first() && !std::filesystem::exists(of_best))
        fail("cannot resume ", options.out, ": its best model, ", of_best, ", is missing");
    restore(model.parameters, load_model(of_best, options).checkpoint, "", of_best);  // to see that it can be
    std::vector<Module::Parameter> means = named(optimiser.parameters, optimiser.means),
                                   squares = named(optimiser.parameters, optimiser.squares);
    restore(means, saved.checkpoint, "mean.", file);
    restore(squares, saved.checkpoint, "square.", file);
    for (const Module::Parameter& tensor : saved.checkpoint.tensors) {
        auto begins = [&](const char* prefix) { return tensor.name.starts_with(prefix); };
        if (!begins("model.") && !begins("mean.") && !begins("square.") && !begins("best."))
            fail(file, " is damaged: it has a tensor ", brief(tensor.name), " that no run saves");
    }
    double before = 0;
    read_state(saved.checkpoint, file, [&](const Json& state) {
        optimiser.steps = state.at("step");
        batches.state = state.at("batches");
        training_seconds = state.at("training_seconds"), trained_tokens = state.at("trained_tokens");
        recent_seconds = state.value("recent_seconds", 0.0), recent_tokens = state.value("recent_tokens", 0.0);
        for (const Json& row : state.at("rows"))
            rows.push_back({row.at(0), {row.at(1), row.at(2)}, row.at(3), row.at(4)});
        if (std::to_string(optimiser.steps) != saved.checkpoint.about("step", file) || optimiser.steps < 0)
            rows.clear();
        before = state.value("seconds", 0.0);
    });
    if (rows.empty()) fail(file, " is damaged: its state is not one a run wrote");
    for (const Evaluation& row : rows)
        if (&row == &rows[0] || row.losses.val < best.val) best = row.losses, best_step = row.step;
    last = rows.back().losses;
    saved_step = optimiser.steps;
    if (optimiser.steps > options.steps)
        fail("cannot resume ", options.out, ": it is at step ", optimiser.steps, " already, --steps is ",
             options.steps);
    auto of_earlier = [](const Module::Parameter& saved_one) { return saved_one.name.starts_with("best."); };
    if (std::ranges::any_of(saved.checkpoint.tensors, of_earlier)) {  // the interruption's model was better: give it up
        restore(model.parameters, saved.checkpoint, "best.", file);
        if (ranks::first()) write_whole(of_best, to_safetensors(objective.describe(model, best_step, best)));
    }
    restore(model.parameters, saved.checkpoint, "model.", file);
    if (options.decay && options.steps != saved.options.steps)
        progress.say(format("the learning rate was planned for %d steps, from here on for %d\n", saved.options.steps,
                            options.steps));
    if (saved_by_ranks != ranks::count())
        progress.say(str("the ranks were ", saved_by_ranks, " and are now ", ranks::count(),
                         ": it goes on the same to rounding, not to the bit\n"));
    progress.say(format("resumed at step %d\n", optimiser.steps));
    begin();
    progress.say(describe(rows.back(), rows.back().step == optimiser.steps ? &model : nullptr));
    mark = Clock::now();
    started = mark - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(before));
    return optimiser.steps;
}

void TrainingRun::save(int step, const Module& model, const AdamW& optimiser, const Rng& batches) {
    if (step % options.save_interval && !ends(step)) return;
    saved_step = step;
    if (ranks::first()) write_state(step, model, optimiser, batches);
    mark = Clock::now();
}

void TrainingRun::lost(int step, const Module& model, const AdamW& optimiser, const Rng& batches) {
    if (!ranks::speaks()) throw ranks::Lost("");
    if (begun && ranks::first()) {
        write_state(step, model, optimiser, batches);
        saved_step = step;
    }
    throw ranks::Lost(str(ranks::first() ? "another rank" : "rank 0",
                          " has died, or needs too long for its step, and mpirun ends all; ",
                          begun ? str("--resume goes on from step ", saved_step) : "nothing was saved yet"));
}

void TrainingRun::write_state(int step, const Module& model, const AdamW& optimiser, const Rng& batches) {
    Checkpoint checkpoint = objective.describe(model, step, last);
    checkpoint.tensors.clear();
    auto add = [&](const std::string& prefix, const std::vector<Module::Parameter>& list) {
        for (const auto& [name, tensor] : list) checkpoint.tensors.push_back({prefix + name, tensor});
    };
    add("model.", model.parameters);
    add("mean.", named(optimiser.parameters, optimiser.means));
    add("square.", named(optimiser.parameters, optimiser.squares));
    std::string file = best_file(options.out);
    if (best_is_unplanned) add("best.", load_safetensors(file).tensors);
    Json state = {{"step", step},
                  {"batches", batches.state},
                  {"training_seconds", training_seconds},
                  {"trained_tokens", trained_tokens},
                  {"recent_seconds", recent_seconds},
                  {"recent_tokens", recent_tokens},
                  {"seconds", seconds()},
                  {"ranks", ranks::count()}};
    for_settings(options, [&](const Option& option) {
        std::visit([&](auto field) { state["settings"][option.name] = options.*field; }, option.field);
    });
    for (const Evaluation& row : rows)
        if (row.step < step || planned(step))  // not the evaluation that an interruption added
            state["rows"].push_back({row.step, row.losses.train, row.losses.val, row.tokens_per_second, row.seconds});
    checkpoint.metadata["state"] = state.dump();
    write_whole(resume_file(options.out), to_safetensors(checkpoint));
    if (best_is_unplanned) write_whole(file, to_safetensors(objective.describe(model, step, last)));
}

}  // namespace babygpt
