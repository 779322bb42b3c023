#include "common/train/run.h"

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/base/format.h"

namespace babygpt {

namespace {

volatile std::sig_atomic_t interrupted = 0;

std::string with_commas(double number) {
    std::string digits = std::to_string(std::llround(number));
    for (int i = int(digits.size()) - 3; i > 0; i -= 3) digits.insert(size_t(i), ",");
    return digits;
}

std::string in_table(double loss) { return format(loss < 1000 ? "%8.4f" : "%8.2e", loss); }

std::vector<Module::Parameter> named(const std::vector<Module::Parameter>& names, const std::vector<Tensor>& tensors) {
    std::vector<Module::Parameter> list;
    for (size_t i = 0; i < names.size(); ++i) list.push_back({names[i].name, tensors[i]});
    return list;
}

}  // namespace

Run::Run(const Options& o, const Corpus& c, size_t count)
    : baselines(measure_baselines(c)),
      options(o),
      corpus(c),
      parameters(count),
      terminal(isatty(STDOUT_FILENO)) {
    prompt_tokens(corpus.vocabulary, options);  // fails now, not after hours of training
    if (!options.resume) check_directory(options.out);
    std::printf("text    %s: %s characters, %d different; the last tenth is for validation\n", corpus.name.c_str(),
                with_commas(double(corpus.train.size() + corpus.val.size())).c_str(), corpus.vocabulary.size());
    std::printf("ruler   knowing nothing %.3f, unigram %.3f, bigram %.3f%s nats per character\n", baselines.uniform,
                baselines.unigram, baselines.bigram,
                baselines.floor ? format(", floor %.3f", *baselines.floor).c_str() : "");
    std::printf("model   %s: %s parameters\n", options.stage.c_str(), with_commas(double(parameters)).c_str());
    std::fflush(stdout);
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error to report
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = SA_RESETHAND | SA_RESTART;  // a second Ctrl-C ends the program at once
    sigaction(SIGINT, &action, nullptr);
}

void Run::begin() {
    if (begun) return;
    begun = true;
    std::string kept = options.resume ? "" : prepare_directory(options.out);
    if (!kept.empty()) std::printf("kept    the earlier run, as %s/\n", kept.c_str());
    lock_directory(options.out);
    std::printf("\n%8s %8s %8s %10s\n", "step", "train", "val", "chars/s");
}

bool Run::ends(int step) const { return step >= options.steps || stopping; }
bool Run::due(int step) const { return step % options.eval_interval == 0 || ends(step); }

void Run::check_loss(int step, double loss) {
    if (std::isfinite(loss)) return;
    clear_live();
    const char* what = std::isnan(loss) ? "NaN" : "infinite";
    if (trained_tokens == 0)
        fail("the loss is ", what,
             " before the first step: the model calls something impossible that comes in the text");
    fail("the loss became ", what, " at step ", step, ": the updates overshoot; try a lower --learning-rate than ",
         options.learning_rate);
}

void Run::trained(int step, double loss) {
    check_loss(step, loss);
    stopping = interrupted;  // looked at once a step, so that all of a step sees the same
    Clock::time_point now = Clock::now();
    double seconds = std::chrono::duration<double>(now - mark).count(),
           tokens = double(options.batch_size) * options.block_size;
    mark = now;
    training_seconds += seconds, recent_seconds += seconds;
    trained_tokens += tokens, recent_tokens += tokens;
    if (terminal && now - shown > std::chrono::milliseconds(100)) show_live(step, loss), shown = now;
}

void Run::show_live(int step, double loss) {
    double left = training_seconds / (step + 1) * (options.steps - step - 1);
    std::printf("\r\033[K%8d %s %s %10s   %.0f s left", step + 1, in_table(loss).c_str(), in_table(last.val).c_str(),
                with_commas(recent_tokens / recent_seconds).c_str(), left);
    std::fflush(stdout);
    live = true;
}

void Run::clear_live() {
    if (live) std::printf("\r\033[K");
    live = false;
}

void Run::record(int step, Losses losses, const Module* model) {
    check_loss(step, losses.train + losses.val);
    begin();
    double speed = recent_seconds > 0 ? recent_tokens / recent_seconds : 0;
    rows.push_back({step, losses, speed, std::chrono::duration<double>(Clock::now() - started).count()});
    last = losses;
    bool better = rows.size() == 1 || losses.val < best.val;
    if (better) best = losses, best_step = step;
    clear_live();
    std::printf("%8d %s %s %10s   %s\n", step, in_table(losses.train).c_str(), in_table(losses.val).c_str(),
                speed > 0 ? with_commas(speed).c_str() : "-", baselines.describe(losses.val).c_str());
    std::fflush(stdout);
    write_metrics();
    if (better && model) {
        Checkpoint checkpoint = describe_model(options, corpus, *model, step, losses.train, losses.val);
        write_whole(options.out + "/model.safetensors", to_safetensors(checkpoint));
    }
    recent_seconds = recent_tokens = 0;
    mark = Clock::now();
}

void Run::write_metrics() const {
    std::string csv = "step,train_loss,val_loss,tokens_per_second,seconds\n";
    for (const Row& row : rows)
        csv += format("%d,%.6f,%.6f,%.1f,%.3f\n", row.step, row.losses.train, row.losses.val, row.tokens_per_second,
                      row.seconds);
    write_whole(options.out + "/metrics.csv", csv);
}

int Run::resume(Module& model, AdamW& optimiser, Rng& batches) {
    if (!options.resume) return 0;
    std::string file = options.out + "/resume.safetensors";
    Checkpoint saved = from_safetensors(read_file(file), file);
    restore(model.parameters, saved, "model.", file);
    std::vector<Module::Parameter> means = named(optimiser.parameters, optimiser.means),
                                   squares = named(optimiser.parameters, optimiser.squares);
    restore(means, saved, "mean.", file);
    restore(squares, saved, "square.", file);
    nlohmann::json state = nlohmann::json::parse(saved.about("state", file), nullptr, false);
    try {
        optimiser.steps = state.at("step");
        batches.state = state.at("batches");
        training_seconds = state.at("training_seconds"), trained_tokens = state.at("trained_tokens");
        for (const auto& row : state.at("rows")) rows.push_back({row[0], {row[1], row[2]}, row[3], row[4]});
    } catch (const nlohmann::json::exception&) {
        fail(file, " is damaged: its state is not one a run wrote");
    }
    for (const Row& row : rows)
        if (&row == &rows[0] || row.losses.val < best.val) best = row.losses, best_step = row.step;
    if (!rows.empty()) {
        last = rows.back().losses;
        started -= std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(rows.back().seconds));
        if (rows.back().step == optimiser.steps && due(optimiser.steps)) rows.pop_back();  // it comes again
    }
    if (optimiser.steps > options.steps)
        fail("cannot resume ", options.out, ": it is at step ", optimiser.steps, " already, --steps is ",
             options.steps);
    std::printf("resumed at step %d\n", optimiser.steps);
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
    nlohmann::json state = {{"step", step},
                            {"batches", batches.state},
                            {"training_seconds", training_seconds},
                            {"trained_tokens", trained_tokens}};
    for (const Row& row : rows)
        state["rows"].push_back({row.step, row.losses.train, row.losses.val, row.tokens_per_second, row.seconds});
    checkpoint.metadata["state"] = state.dump();
    write_whole(options.out + "/resume.safetensors", to_safetensors(checkpoint));
    mark = Clock::now();
}

void Run::finish(LanguageModel& model) {
    std::string file = options.out + "/model.safetensors";
    restore(model.parameters, from_safetensors(read_file(file), file), "", file);
    finish(next_logits(model, options.block_size));
}

void Run::finish(const NextLogits& next) {
    std::string sample = options.prompt + write_text(next, corpus.vocabulary, options);
    nlohmann::json json = {
        {"stage", options.stage},
        {"options", nlohmann::json::parse(options_to_json(options))},
        {"parameters", parameters},
        {"vocab_size", corpus.vocabulary.size()},
        {"steps", rows.back().step},
        {"final", {{"train_loss", last.train}, {"val_loss", last.val}}},
        {"best", {{"step", best_step}, {"val_loss", best.val}}},
        {"tokens_per_second", training_seconds > 0 ? trained_tokens / training_seconds : 0},
        {"baselines", {{"uniform", baselines.uniform}, {"unigram", baselines.unigram}, {"bigram", baselines.bigram}}},
        {"sample", sample}};
    if (baselines.floor) json["baselines"]["floor"] = *baselines.floor;
    if (stopping) std::printf("\nstopped by Ctrl-C at step %d; --resume goes on from here\n", rows.back().step);
    std::printf("\nbest    step %d: %.4f nats per character = %.3f bits; %s\n\n%s\n", best_step, best.val,
                best.val / std::log(2.0), baselines.describe(best.val).c_str(), sample.c_str());
    std::fflush(stdout);
    auto write_files = [&] {
        write_whole(options.out + "/samples.txt", sample + "\n");
        write_whole(options.out + "/run.json", json.dump(2) + "\n");
    };
    write_files();
    if (const Grammar* judge = corpus.judge) {
        std::string tales = write_tales(next, corpus.vocabulary, options);
        Score score = judge->judge(tales);
        json["judged"] = {{"tales", score.tales},
                          {"in_form", score.in_form},
                          {"all_right", score.all_right},
                          {"slots", score.slots},
                          {"slots_right", score.slots_right}};
        std::printf("\njudged  %zu of %zu %s follow the grammar", score.in_form, score.tales, corpus.name.c_str());
        if (score.slots) std::printf("; %zu of their %zu memory slots are right", score.slots_right, score.slots);
        std::printf("\n");
        sample += "\n\n" + tales;
        write_files();
    }
    std::printf("files   %s/\n", options.out.c_str());
    std::fflush(stdout);
}

}  // namespace babygpt
