#include "common/train/run.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/base/format.h"
#include "common/base/signals.h"
#include "data/grammar.h"

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

Run::Run(const Options& o, const Corpus& c, size_t count)
    : ruler(measure(c)),
      options(without_slashes(o)),
      corpus(c),
      parameters(count) {
    catch_signals();
    prompt_tokens(corpus.vocabulary, options);  // fails now, not after hours of training
    if (options.resume)
        lock = DirectoryLock(options.out);
    else
        check_directory(options.out);
    progress.say("text    " + corpus.name + ": " + with_commas(double(corpus.train.size() + corpus.val.size())) +
                 str(" characters, ", corpus.vocabulary.size(), " different; the last tenth is for validation\n") +
                 format("ruler   knowing nothing %.3f, unigram %.3f, bigram %.3f%s nats per character\n", ruler.uniform,
                        ruler.unigram, ruler.bigram, ruler.floor ? format(", floor %.3f", *ruler.floor).c_str() : "") +
                 "model   " + options.stage + ": " + with_commas(double(parameters)) + " parameters\n");
}

void Run::begin() {
    if (begun) return;
    begun = true;
    if (!options.resume) {
        NewDirectory made = make_directory(options.out);
        lock = std::move(made.lock);
        if (!made.kept.empty()) progress.say("kept    the earlier run, as " + made.kept + "/\n");
    }
    progress.say(str("\n", table_heading, "\n"));
}

bool Run::ends(int step) const { return step >= options.steps || stopped_by; }
bool Run::planned(int step) const { return step % options.eval_interval == 0 || step >= options.steps; }
bool Run::due(int step) const {
    bool done = !rows.empty() && rows.back().step == step;
    return !done && (planned(step) || ends(step));
}

void Run::check_loss(int step, double loss) {
    if (std::isfinite(loss)) return;
    progress.say("");
    const char* what = std::isnan(loss) ? "NaN" : "infinite";
    if (trained_tokens == 0)
        fail("the loss is ", what,
             " before the first step: the model calls something impossible that comes in the text");
    fail("the loss became ", what, " at step ", step, ": the updates overshoot; try a lower --learning-rate than ",
         options.learning_rate);
}

void Run::trained(int step, double loss) {
    check_loss(step, loss);
    stopped_by = interruption();  // looked at once a step, so that all of a step sees the same
    Clock::time_point now = Clock::now();
    double passed = std::chrono::duration<double>(now - mark).count(),
           tokens = double(options.batch_size) * options.block_size;
    mark = now;
    training_seconds += passed, recent_seconds += passed;
    trained_tokens += tokens, recent_tokens += tokens;
    if (!progress.live_is_due()) return;
    double left = training_seconds / (step + 1) * (options.steps - step - 1);
    progress.show_live(table_row(step + 1, loss, last.val, recent_tokens / recent_seconds) +
                       format("   %.0f s left", left));
}

void Run::record(int step, Losses losses, const Module* model) {
    check_loss(step, losses.train + losses.val);
    begin();
    rows.push_back({step, losses, recent_seconds > 0 ? recent_tokens / recent_seconds : 0, seconds()});
    last = losses;
    bool better = planned(step) && (rows.size() == 1 || losses.val < best.val);
    if (better) best = losses, best_step = step;
    if (planned(step)) recent_seconds = recent_tokens = 0;
    write_metrics();
    if (better && model) {
        Checkpoint checkpoint = describe_model(options, corpus, *model, step, losses.train, losses.val);
        write_whole(options.out + "/model.safetensors", to_safetensors(checkpoint));
    }
    progress.say(describe(rows.back()));
    mark = Clock::now();
}

std::string Run::describe(const Row& row) const {
    return table_row(row.step, row.losses.train, row.losses.val, row.tokens_per_second) + "   " +
           ruler.describe(row.losses.val) + "\n";
}

double Run::seconds() const { return std::chrono::duration<double>(Clock::now() - started).count(); }

void Run::write_metrics() const {
    std::string csv = "step,train_loss,val_loss,tokens_per_second,seconds\n";
    for (const Row& row : rows)
        csv += format("%d,%.6f,%.6f,%.1f,%.3f\n", row.step, row.losses.train, row.losses.val, row.tokens_per_second,
                      row.seconds);
    write_whole(options.out + "/metrics.csv", csv);
}

Options saved_options(const std::string& directory, const std::string& stage) {
    std::string file = resume_file(directory);
    if (!std::filesystem::exists(file))
        fail("there is no run to resume in ", directory, " (no ", file, "); leave out --resume to begin one");
    SavedModel saved = load_model(file, stage);
    Options options = saved.options;
    read_state(saved.checkpoint, file, [&](const Json& state) {
        options.save_interval = state.value("save_interval", options.save_interval);
        Json sample = state.value("sample", Json::object());
        options.prompt = sample.value("prompt", options.prompt);
        options.tokens = sample.value("tokens", options.tokens);
        options.temperature = sample.value("temperature", options.temperature);
        options.top_k = sample.value("top_k", options.top_k);
        options.top_p = sample.value("top_p", options.top_p);
    });
    if (options.save_interval < 1 || options.tokens < 0) fail(file, " is damaged: its options make no sense");
    return options;
}

int Run::resume(Module& model, AdamW& optimiser, Rng& batches) {
    if (!options.resume) return 0;
    std::string file = resume_file(options.out), best_file = options.out + "/model.safetensors";
    SavedModel saved = load_model(file, options.stage);
    Options same = options;
    same.steps = saved.options.steps;  // a run may be made longer
    if (std::string what = difference(same, saved.options); !what.empty())
        fail("cannot resume ", options.out, ": ", what);
    if (corpus.hash != saved.corpus_hash)
        fail("cannot resume ", options.out, ": the text ", options.data, " has changed since; its vocabulary has ",
             corpus.vocabulary.size(), " characters, the run's ", saved.vocabulary.size());
    if (!std::filesystem::exists(best_file))
        fail("cannot resume ", options.out, ": its best model, ", best_file, ", is missing");
    restore(model.parameters, load_model(best_file, options.stage).checkpoint, "", best_file);  // to see that it can be
    restore(model.parameters, saved.checkpoint, "model.", file);
    std::vector<Module::Parameter> means = named(optimiser.parameters, optimiser.means),
                                   squares = named(optimiser.parameters, optimiser.squares);
    restore(means, saved.checkpoint, "mean.", file);
    restore(squares, saved.checkpoint, "square.", file);
    double before = 0;
    read_state(saved.checkpoint, file, [&](const Json& state) {
        optimiser.steps = state.at("step");
        batches.state = state.at("batches");
        training_seconds = state.at("training_seconds"), trained_tokens = state.at("trained_tokens");
        recent_seconds = state.value("recent_seconds", 0.0), recent_tokens = state.value("recent_tokens", 0.0);
        for (const auto& row : state.at("rows")) rows.push_back({row[0], {row[1], row[2]}, row[3], row[4]});
        before = state.value("seconds", 0.0);
    });
    if (rows.empty()) fail(file, " is damaged: its state is not one a run wrote");
    for (const Row& row : rows)
        if (&row == &rows[0] || row.losses.val < best.val) best = row.losses, best_step = row.step;
    last = rows.back().losses;
    if (optimiser.steps > options.steps)
        fail("cannot resume ", options.out, ": it is at step ", optimiser.steps, " already, --steps is ",
             options.steps);
    if (options.decay && options.steps != saved.options.steps)
        progress.say(format("the learning rate was planned for %d steps, from here on for %d\n", saved.options.steps,
                            options.steps));
    progress.say(format("resumed at step %d\n", optimiser.steps));
    begin();
    progress.say(describe(rows.back()));
    mark = Clock::now();
    started = mark - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(before));
    return optimiser.steps;
}

void Run::save(int step, const Module& model, const AdamW& optimiser, const Rng& batches) {
    if (step % options.save_interval && !ends(step)) return;
    Checkpoint checkpoint = describe_model(options, corpus, model, step, last.train, last.val);
    checkpoint.tensors.clear();
    auto add = [&](const std::string& prefix, const std::vector<Module::Parameter>& list) {
        for (const auto& [name, tensor] : list) checkpoint.tensors.push_back({prefix + name, tensor});
    };
    add("model.", model.parameters);
    add("mean.", named(optimiser.parameters, optimiser.means));
    add("square.", named(optimiser.parameters, optimiser.squares));
    Json state = {{"step", step},
                  {"batches", batches.state},
                  {"training_seconds", training_seconds},
                  {"trained_tokens", trained_tokens},
                  {"recent_seconds", recent_seconds},
                  {"recent_tokens", recent_tokens},
                  {"seconds", seconds()},
                  {"save_interval", options.save_interval},
                  {"sample",
                   {{"prompt", options.prompt},
                    {"tokens", options.tokens},
                    {"temperature", options.temperature},
                    {"top_k", options.top_k},
                    {"top_p", options.top_p}}}};
    for (const Row& row : rows)
        if (row.step < step || planned(step))  // not the evaluation that an interruption added
            state["rows"].push_back({row.step, row.losses.train, row.losses.val, row.tokens_per_second, row.seconds});
    checkpoint.metadata["state"] = state.dump();
    write_whole(resume_file(options.out), to_safetensors(checkpoint));
    mark = Clock::now();
}

void Run::finish(LanguageModel& model) {
    std::string file = options.out + "/model.safetensors";
    restore(model.parameters, from_safetensors(read_file(file), file), "", file);
    finish(next_logits(model, options.block_size));
}

void Run::finish(const NextLogits& next) {
    std::string sample = options.prompt + write_text(next, corpus.vocabulary, options), said;
    Json json = {{"stage", options.stage},
                 {"options", Json::parse(options_to_json(options))},
                 {"parameters", parameters},
                 {"vocab_size", corpus.vocabulary.size()},
                 {"steps", rows.back().step},
                 {"final", {{"train_loss", last.train}, {"val_loss", last.val}}},
                 {"best", {{"step", best_step}, {"val_loss", best.val}}},
                 {"tokens_per_second", training_seconds > 0 ? trained_tokens / training_seconds : 0},
                 {"baselines", {{"uniform", ruler.uniform}, {"unigram", ruler.unigram}, {"bigram", ruler.bigram}}},
                 {"sample", sample}};
    if (ruler.floor) json["baselines"]["floor"] = *ruler.floor;
    if (stopped_by)
        said = format("\nstopped by %s at step %d; --resume goes on from here\n", stopped_by, rows.back().step);
    said += format("\nbest    step %d: %.4f nats per character = %.3f bits; %s\n\n", best_step, best.val,
                   best.val / std::log(2.0), ruler.describe(best.val).c_str()) +
            sample + "\n";
    auto write_files = [&] {
        write_whole(options.out + "/samples.txt", sample + "\n");
        write_whole(options.out + "/run.json", json.dump(2) + "\n");
    };
    write_files();
    progress.say(said);
    if (const Grammar* judge = corpus.judge) {
        std::string tales = write_tales(next, corpus.vocabulary, options);
        Score score = judge->judge(tales);
        json["judged"] = {{"tales", score.tales},
                          {"in_form", score.in_form},
                          {"all_right", score.all_right},
                          {"slots", score.slots},
                          {"slots_right", score.slots_right}};
        said = format("\njudged  %zu of %zu %s follow the grammar", score.in_form, score.tales, corpus.name.c_str());
        if (score.slots) said += format("; %zu of their %zu memory slots are right", score.slots_right, score.slots);
        sample += "\n\n" + tales;
        write_files();
        progress.say(said + "\n");
    }
    progress.say("files   " + options.out + "/\n");
    progress.check();
}

}  // namespace babygpt
