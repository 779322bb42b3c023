#include "common/train/training_run.h"

#include <cmath>
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

}  // namespace

std::string metrics_csv(const std::vector<Evaluation>& rows) {
    std::string csv = "step,train_loss,val_loss,tokens_per_second,seconds\n";
    for (const auto& [step, losses, tokens_per_second, seconds] : rows)
        csv += format("%d,%.6f,%.6f,%.1f,%.3f\n", step, losses.train, losses.val, tokens_per_second, seconds);
    return csv;
}

TrainingRun::TrainingRun(const Options& o, const Objective& what, size_t count)
    : options(o),
      objective(what),
      parameters(count) {
    catch_signals();
    survive_closed_pipes();
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
        fail("the loss is ", what, " before the first step: ",
             std::isnan(loss)
                 ? "something is computed that is no number, as 0 / 0 and inf - inf are; look at what each "
                   "part of the model returns, in their order"
                 : "the model calls something impossible that comes in the text");
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
    write("metrics.csv", metrics_csv(rows));
    if (planned(step) && model && ranks::first()) {
        std::string bytes = to_safetensors(objective.describe(*model, step, losses));
        if (better) write_whole(best_file(options.out), bytes);
        keep_snapshot(options, step, bytes);
    }
    progress.say(describe(rows.back(), model));
    mark = Clock::now();
}

std::string TrainingRun::describe(const Evaluation& row, const Module* model) const {
    return table_row(row.step, row.losses.train, row.losses.val, row.tokens_per_second) + "   " +
           objective.remark(row.losses.val, model) + "\n";
}

double TrainingRun::seconds() const { return std::chrono::duration<double>(Clock::now() - started).count(); }

void TrainingRun::write(const std::string& name, const std::string& bytes) const {
    if (ranks::first()) write_whole(options.out + "/" + name, bytes);
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
    if (!options.program.empty()) json["program"] = options.program;
    std::string first = stopped();  // to be said when the first files are written
    first += format("\nbest    step %d: ", best_step) + objective.in_words(best.val) + "\n\n";
    show([&](const Json& found, const std::string& text, const std::string& said) {
        json.merge_patch(found);
        write("samples.txt", text);
        write("run.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");  // a name may be no UTF-8
        progress.say(std::exchange(first, "") + said);
    });
    progress.say("files   " + options.out + "/\n");
    progress.check();
}

}  // namespace babygpt
