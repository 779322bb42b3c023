#include "common/train/training_run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/files.h"
#include "common/base/format.h"
#include "common/base/signals.h"
#include "common/train/agreement.h"
#include "common/train/ranks.h"
#include "common/train/snapshots.h"

namespace babygpt {

namespace {

using Json = nlohmann::json;

std::vector<Module::Parameter> named(const std::vector<Module::Parameter>& names, const std::vector<Tensor>& tensors) {
    std::vector<Module::Parameter> list;
    for (size_t i = 0; i < names.size(); ++i) list.push_back({names[i].name, tensors[i]});
    return list;
}

Options without_slashes(Options options) {  // at the end of --out
    while (options.out.size() > 1 && options.out.ends_with('/')) options.out.pop_back();
    return options;
}

// Calls f with each option of the stage that is kept only to resume.
template <class F>
void for_settings(const Options& stage, F f) {
    for (const Option& option : option_table())
        if (option.saved == Saved::to_resume && option.has(stage)) f(option);
}

std::string best_file(const std::string& directory) { return directory + "/model.safetensors"; }
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

TrainingRun::TrainingRun(const Options& o, const Objective& what, size_t count)
    : options(without_slashes(o)),
      objective(what),
      parameters(count) {
    catch_signals();
    std::string introduction = objective.introduce();
    if (ranks::first()) {
        if (options.resume)
            lock = DirectoryLock(options.out);
        else
            check_directory(options.out);
    }
    agree_on_text(options, objective.describe({}, 0, {}).about("corpus_hash", "the run"));
    if (ranks::count() > 1)
        introduction += str("ranks   ", ranks::count(), ", threads of each: ", thread_count(options), "\n");
    progress.say(introduction + "model   " + options.stage + ": " + with_commas(double(parameters)) + " parameters\n");
}

void TrainingRun::begin() {
    if (begun) return;
    begun = true;
    if (!options.resume && ranks::first()) {
        NewDirectory made = make_directory(options.out);
        lock = std::move(made.lock);
        if (!made.kept.empty()) progress.say("kept    the earlier run, as " + made.kept + "/\n");
        for (const Objective::File& file : objective.files()) write_whole(options.out + "/" + file.name, file.text);
    }
    progress.say(str("\n", table_heading, "\n"));
}

bool TrainingRun::ends(int step) const { return step >= options.steps || stopped_by; }
bool TrainingRun::planned(int step) const { return step % options.eval_interval == 0 || step >= options.steps; }
bool TrainingRun::due(int step) const {
    bool done = !rows.empty() && rows.back().step == step;
    if (stopped_by && ranks::count() > 1) return false;
    return !done && (planned(step) || ends(step));
}

void TrainingRun::check_loss(int step, double loss) {
    if (std::isfinite(loss)) return;
    progress.say("");
    const char* what = std::isnan(loss) ? "NaN" : "infinite";
    if (trained_tokens == 0)
        fail("the loss is ", what,
             " before the first step: the model calls something impossible that comes in the text");
    fail("the loss became ", what, " at step ", step, ": the updates overshoot; try a lower --learning-rate than ",
         options.learning_rate);
}

void TrainingRun::trained(int step, double loss, size_t tokens) {
    check_loss(step, loss);
    stopped_by = ranks::interruption();  // looked at once a step, so that all of a step sees the same
    Clock::time_point now = Clock::now();
    double passed = std::chrono::duration<double>(now - mark).count();
    mark = now;
    training_seconds += passed, recent_seconds += passed;
    trained_tokens += double(tokens), recent_tokens += double(tokens);
    if (!progress.live_is_due()) return;
    double left = training_seconds / (step + 1) * (options.steps - step - 1);
    progress.show_live(table_row(step + 1, loss, last.val, recent_tokens / recent_seconds) +
                       format("   %.0f s left", left));
}

void TrainingRun::record(int step, Losses losses, const Module* model) {
    check_loss(step, losses.train + losses.val);
    begin();
    rows.push_back({step, losses, recent_seconds > 0 ? recent_tokens / recent_seconds : 0, seconds()});
    last = losses;
    bool better = rows.size() == 1 || losses.val < best.val;
    if (better) best = losses, best_step = step;
    best_is_unplanned = better && !planned(step);
    if (planned(step)) recent_seconds = recent_tokens = 0;
    write_metrics();
    if (planned(step) && model && ranks::first()) {
        std::string bytes = to_safetensors(objective.describe(*model, step, losses));
        if (better) write_whole(best_file(options.out), bytes);
        keep_snapshot(options, step, bytes);
    }
    progress.say(describe(rows.back(), model));
    mark = Clock::now();
}

std::string TrainingRun::describe(const Row& row, const Module* model) const {
    return table_row(row.step, row.losses.train, row.losses.val, row.tokens_per_second) + "   " +
           objective.remark(row.losses.val, model) + "\n";
}

double TrainingRun::seconds() const { return std::chrono::duration<double>(Clock::now() - started).count(); }

void TrainingRun::write(const std::string& name, const std::string& bytes) const {
    if (ranks::first()) write_whole(options.out + "/" + name, bytes);
}

void TrainingRun::write_metrics() const {
    std::string csv = "step,train_loss,val_loss,tokens_per_second,seconds\n";
    for (const Row& row : rows)
        csv += format("%d,%.6f,%.6f,%.1f,%.3f\n", row.step, row.losses.train, row.losses.val, row.tokens_per_second,
                      row.seconds);
    write("metrics.csv", csv);
}

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
    for (const Row& row : rows)
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
    progress.say(describe(rows.back(), &model));
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
    for (const Row& row : rows)
        if (row.step < step || planned(step))  // not the evaluation that an interruption added
            state["rows"].push_back({row.step, row.losses.train, row.losses.val, row.tokens_per_second, row.seconds});
    checkpoint.metadata["state"] = state.dump();
    write_whole(resume_file(options.out), to_safetensors(checkpoint));
    if (best_is_unplanned) write_whole(file, to_safetensors(objective.describe(model, step, last)));
}

void TrainingRun::finish(Module& model) {
    if (stopped_by && ranks::count() > 1) return progress.say(stopped());
    std::string file = best_file(options.out);
    restore(model.parameters, load_safetensors(file), "", file);
    conclude([&](const Objective::Tell& tell) { objective.show(model, tell); });
}

std::string TrainingRun::stopped() const {
    if (!stopped_by) return "";
    return format("\nstopped by %s at step %d; --resume goes on from here\n", stopped_by, saved_step);
}

void TrainingRun::conclude(const std::function<void(const Objective::Tell& tell)>& show) {
    if (stopped_by && ranks::count() > 1) return progress.say(stopped());
    Json json = {{"stage", options.stage},
                 {"options", Json::parse(options_to_json(options))},
                 {"parameters", parameters},
                 {"steps", rows.back().step},
                 {"final", {{"train_loss", last.train}, {"val_loss", last.val}}},
                 {"best", {{"step", best_step}, {"val_loss", best.val}}},
                 {"tokens", trained_tokens},
                 {"tokens_per_second", training_seconds > 0 ? trained_tokens / training_seconds : 0}};
    std::string first = stopped();  // to be said when the first files are written
    first += format("\nbest    step %d: ", best_step) + objective.in_words(best.val) + "\n\n";
    show([&](const Json& found, const std::string& text, const std::string& said) {
        json.merge_patch(found);
        write("samples.txt", text);
        write("run.json", json.dump(2) + "\n");
        progress.say(std::exchange(first, "") + said);
    });
    progress.say("files   " + options.out + "/\n");
    progress.check();
}

}  // namespace babygpt
