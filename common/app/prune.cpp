#include "common/app/prune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/app/bert.h"
#include "common/app/command_line.h"
#include "common/app/main.h"
#include "common/base/files.h"
#include "common/base/format.h"
#include "common/base/signals.h"
#include "common/base/thread_pool.h"
#include "common/draw/svg.h"
#include "common/train/evaluate.h"
#include "common/train/heads.h"
#include "common/train/ranks.h"
#include "common/train/training_loop.h"

namespace babygpt {

namespace {

using Json = nlohmann::json;

const char* const grown_from = "13_bert";  // whose models can be pruned

struct Opened {
    std::string file;
    SavedModel saved;
    CharacterTokenizer tokenizer;
    BertConfig config;
};

Opened open_model(const std::string& directory, const Options& stage) {
    std::string file = best_file(directory);
    Options as_saved = stage;
    std::error_code error;
    // Only the first rank looks, as others need not see the file; saved_by tells the error, if there is one.
    bool missing = ranks::first() && !std::filesystem::exists(file, error) && !error;
    if (missing || saved_by(file) == grown_from) as_saved.stage = grown_from;  // load_model says who makes one
    SavedModel saved = load_model(file, as_saved);
    saved.options.stage = stage.stage;
    CharacterTokenizer tokenizer(saved.vocabulary);
    BertConfig config = bert_config(saved.options, tokenizer.size());
    return {file, std::move(saved), std::move(tokenizer), config};
}

std::unique_ptr<PrunableModel> build(const Opened& opened, const MakeBert& make_model) {
    auto model = make_from(opened.saved.checkpoint, opened.file, make_model, opened.config);
    return std::unique_ptr<PrunableModel>(static_cast<PrunableModel*>(model.release()));
}

Sentences same_text(const Opened& opened) {
    const std::string& data = opened.saved.options.data;
    Sentences text = load_sentences(data);
    if (text.hash != opened.saved.corpus_hash)
        fail("the text ", data, " has changed since ", opened.file, " was trained on it");
    return text;
}

// The objective of a model that goes on from what it has learnt.
class TrainingOn : public PreTraining {
  public:
    TrainingOn(const Opened& start, const Options& o, const Sentences& t, const MakeBert& m)
        : PreTraining(o, t, m),
          opened(start) {}
    std::shared_ptr<Module> make_model(Rng& initialisation) const override {
        std::shared_ptr<Module> model = PreTraining::make_model(initialisation);
        restore(model->parameters, opened.saved.checkpoint, "", opened.file);
        return model;
    }

  private:
    const Opened& opened;
};

void train_on(Options options, const Options& stage, const MakeBert& make_model) {
    if (options.resume) {
        Sentences text = load_sentences(options.data);
        return train_objective(options, PreTraining(options, text, make_model));
    }
    Opened opened = open_model(options.model, stage);
    const Options& its = opened.saved.options;  // the text and the model are as they were
    options.data = its.data, options.batch_size = its.batch_size, options.block_size = its.block_size;
    options.n_embd = its.n_embd, options.n_head = its.n_head, options.n_layer = its.n_layer;
    options.positions = its.positions, options.dropout = its.dropout, options.pruned_heads = its.pruned_heads;
    if (options.program.empty()) options.program = its.program;
    Sentences text = same_text(opened);
    train_objective(options, TrainingOn(opened, options, text, make_model));
}

struct Row {  // of the table of heads: what is left without one
    double loss;
    Guesses guesses;
    std::map<std::string, SlotGuesses> slots;
};

int column_width(const std::string& kind) { return int(std::max<size_t>(6, kind.size())); }

std::string heading(const Row& row) {
    std::string line = "without    loss   change  importance  masked  follows";
    for (const auto& [kind, slots] : row.slots) line += format(" %*s", column_width(kind), kind.c_str());
    return line + "\n";
}

std::string describe(const std::string& without, const Row& row, double loss_of_all, const std::string& importance) {
    std::string line =
        format("%-7s %7.4f  %+7.4f  %10s  %5.1f%%   %5.1f%%", without.c_str(), row.loss, row.loss - loss_of_all,
               importance.c_str(), 100 * row.guesses.masked_accuracy(), 100 * row.guesses.follows_accuracy());
    for (const auto& [kind, slots] : row.slots)
        line += format(" %*.1f%%", column_width(kind) - 1, 100.0 * double(slots.right) / double(slots.slots));
    return line + "\n";
}

Json to_json(const Row& row) {
    Json json = {{"val_loss", row.loss},
                 {"masked_accuracy", row.guesses.masked_accuracy()},
                 {"follows_accuracy", row.guesses.follows_accuracy()}};
    for (const auto& [kind, slots] : row.slots) json["slots"][kind] = {{"slots", slots.slots}, {"right", slots.right}};
    return json;
}

// Tokens a second on one thread, of two models by turns, so that whatever else the machine does slows both.
std::pair<double, double> reading_speeds(const Module& a, const Module& b, const DrawnBatch& batch) {
    constexpr int times = 15;
    std::vector<double> seconds[2];
    NoGrad reading;
    for (int i = 0; i < 2 * times; ++i) {
        auto started = std::chrono::steady_clock::now();
        for_chunks(batch, 0, batch.rows(), [&](int first, int last) { batch.loss(i % 2 ? b : a, first, last); });
        seconds[i % 2].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    }
    for (auto& each : seconds) std::ranges::sort(each);
    return {double(batch.tokens()) / seconds[0][times / 2], double(batch.tokens()) / seconds[1][times / 2]};
}

std::string loss_against_heads(const Json& found) {
    double all = found["before"]["val_loss"];
    Chart chart{.title = "What is lost with the heads",
                .x_label = "heads left",
                .y_label = "loss on unseen pairs, nats",
                .series = {{"loss", {{double(found["heads"].size()), all}}}},
                .lines = {{"tolerance", all + double(found["tolerance"])}}};
    for (const Json& cut : found["cuts"]) chart.series[0].points.push_back({cut["left"], cut["val_loss"]});
    return draw(chart);
}

class Pruning {
  public:
    Pruning(const Options& command_line, const Options& stage, const MakeBert& make_model);
    void weigh_heads();           // the table: each head switched off alone
    HeadsByLayer least_useful();  // heads that may go, in all within the tolerance
    void save_without(const HeadsByLayer& heads);

  private:
    double val_loss(const Module& model) const { return mean_loss(Part::val, draw, model, options); }
    Row measure(const PreTrainingModel& model) const;
    MaskedModel without(const HeadsByLayer& heads) const { return {*full, mask_without(heads, opened.config)}; }

    const Options& given;
    Opened opened;
    Options options;  // of the model
    Sentences text;
    PreTraining objective;
    Draw draw = [this](Part part, Rng& rng) { return objective.draw(part, rng); };
    std::unique_ptr<PrunableModel> full, small;
    NewDirectory directory;
    Row all;
    Progress progress;
    Json found;
};

Pruning::Pruning(const Options& command_line, const Options& stage, const MakeBert& make_model)
    : given(command_line),
      opened(open_model(given.model, stage)),
      options(opened.saved.options),
      text(same_text(opened)),
      objective(options, text, make_model),
      full(build(opened, make_model)),
      small(build(opened, make_model)) {
    survive_closed_pipes();
    check_directory(given.out);
    options.threads = given.threads;
    if (!given.program.empty()) options.program = given.program;
    progress.say(format("model   %s: %zu heads in %d layers, %s parameters\n", given.model.c_str(),
                        all_heads(opened.config).size(), opened.config.num_hidden_layers,
                        with_commas(double(full->parameter_count())).c_str()));
    all = measure(*full);
    if (!std::isfinite(all.loss))
        fail("the loss of ", given.model, " is no number: its file is damaged, or its training overshot");
    directory = make_directory(given.out);  // ours from here on: nothing can come in between and cost the result
    if (!directory.kept.empty()) progress.say("kept    the earlier run, as " + directory.kept + "/\n");
    found = {{"stage", stage.stage}, {"model", given.model}, {"before", to_json(all)}};
}

Row Pruning::measure(const PreTrainingModel& model) const {
    constexpr size_t pairs = 100;
    return {val_loss(model), objective.guesses(model, options.eval_batches),
            guess_slots(model, text, pairs, options.block_size)};
}

void Pruning::weigh_heads() {
    progress.say("\n" + heading(all) + describe("none", all, all.loss, ""));
    const std::vector<Head> heads = all_heads(opened.config);
    const std::vector<double> importance = head_importance(Part::val, objective, *full, opened.config, options);
    for (size_t i = 0; i < heads.size(); ++i) {
        Row row = measure(without(with({}, heads[i])));
        progress.say(describe(heads[i].name(), row, all.loss, format("%.4f", importance[i])));
        Json& its = found["heads"][heads[i].name()] = to_json(row);
        its["importance"] = importance[i];
    }
}

HeadsByLayer Pruning::least_useful() {
    const double limit = all.loss + given.tolerance;
    size_t left = all_heads(opened.config).size();
    HeadsByLayer heads;
    bool within = true;
    found["cuts"] = Json::array();
    progress.say("\ncut        left     loss   change\n");
    auto train_loss = [&](const HeadsByLayer& off) { return mean_loss(Part::train, draw, without(off), options); };
    HeadsByLayer off;  // chosen by the training text, as what is chosen by a text looks too good on it
    for (const Head& head : cutting_order(opened.config, train_loss)) {
        off = with(off, head);
        const double loss = val_loss(without(off));
        bool last = std::exchange(within, within && loss <= limit) && !within;
        if (within) heads = off;
        progress.say(format("%-7s %7zu  %7.4f  %+7.4f%s\n", head.name().c_str(), --left, loss, loss - all.loss,
                            last ? "  more than the tolerance: from here on they stay" : ""));
        found["cuts"].push_back({{"head", head.name()}, {"left", left}, {"val_loss", loss}});
    }
    return heads;
}

void Pruning::save_without(const HeadsByLayer& heads) {
    HeadsByLayer gone = opened.config.pruned_heads;
    for (const auto& [layer, its] : heads) gone[layer].insert(its.begin(), its.end());
    options.pruned_heads = list_heads(gone);
    small->prune_heads(heads);
    Row after = measure(*small);
    Rng rng(options.seed, "speed");
    auto [was, speed] = reading_speeds(*full, *small, *objective.draw(Part::val, rng));
    const Losses losses = evaluate(draw, *small, options);
    const PairBaselines baselines = measure_baselines(text);
    const size_t heads_left = all_heads(bert_config(options, text.tokenizer.size())).size();
    const std::string sample = format("%zu heads of %zu: %.1f%% of masked characters, %.1f%% of pairs right",
                                      heads_left, all_heads(opened.config).size(),
                                      100 * after.guesses.masked_accuracy(), 100 * after.guesses.follows_accuracy());
    Json last = to_json(after);
    last["train_loss"] = losses.train;
    found.update({{"options", Json::parse(options_to_json(options))},
                  {"vocab_size", text.tokenizer.size()},
                  {"steps", options.steps},
                  {"final", last},
                  {"sample", sample},
                  {"best", {{"step", options.steps}, {"val_loss", losses.val}}},
                  {"baselines", {{"uniform", baselines.uniform}, {"unigram", baselines.unigram}}},
                  {"tolerance", given.tolerance},
                  {"parameters", small->parameter_count()},
                  {"parameters_before", full->parameter_count()},
                  {"tokens_per_second", speed},
                  {"tokens_per_second_before", was}});
    if (!options.program.empty()) found["program"] = options.program;

    auto write = [&](const std::string& name, const std::string& bytes) { write_whole(given.out + "/" + name, bytes); };
    for (const Objective::File& file : objective.files()) write(file.name, file.text);
    write_whole(best_file(given.out), to_safetensors(objective.describe(*small, options.steps, losses)));
    write("metrics.csv", metrics_csv({{options.steps, losses, speed, 0}}));
    write("samples.txt", sample + "\n");
    write("heads.svg", loss_against_heads(found));
    write("run.json", found.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");  // a path may be no UTF-8
    progress.say("\n" + heading(after) + describe("cut", after, all.loss, ""));
    progress.say(format("\nsmall   %zu heads, %s parameters (was %s), reads %s characters/s on one thread (was %s)\n",
                        heads_left, with_commas(double(small->parameter_count())).c_str(),
                        with_commas(double(full->parameter_count())).c_str(), with_commas(speed).c_str(),
                        with_commas(was).c_str()));
    progress.say("files   " + given.out + "/\n");
    progress.check();
}

}  // namespace

int run_prune(int argc, char** argv, Options defaults, const MakeBert& make_model) {
    defaults.task = Task::fill;
    return guarded(defaults.stage, [&] {
        Options options = defaults;
        Command command = parse_options(argc, argv, options);
        if (command == Command::fill || command == Command::follows) {
            Opened opened = open_model(options.model, defaults);
            auto model = build(opened, make_model);
            return with_helper(thread_count(options), [&] {
                answer(command, {*model, opened.tokenizer, opened.saved.options.block_size, opened.config.pruned_heads},
                       options);
            });
        }
        std::error_code error;
        if (std::filesystem::equivalent(options.out, options.model, error) &&
            saved_by(best_file(options.model)) != defaults.stage)
            fail("--out ", options.out, " is the directory of the model; choose another, or it would be moved away");
        prepare_training(argc, argv, options, defaults);
        if (command == Command::train) return train_on(options, defaults, make_model);
        if (ranks::count() > 1) fail("prune is the work of one program; start it without mpirun, or train with it");
        Pruning pruning(options, defaults, make_model);
        pruning.weigh_heads();
        pruning.save_without(pruning.least_useful());
    });
}

}  // namespace babygpt
