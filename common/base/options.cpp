#include "common/base/options.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/error.h"
#include "common/base/format.h"

namespace babygpt {

namespace {

using nlohmann::json, nlohmann::ordered_json;

constexpr Saved saved = Saved::always, to_resume = Saved::to_resume, not_saved = Saved::never;
constexpr double thousand = 1e3, million = 1e6, billion = 1e9;

bool every(const Options&) { return true; }
template <auto field>
bool with(const Options& stage) {  // a stage that does not leave this empty
    return stage.*field != std::decay_t<decltype(stage.*field)>{};
}
bool writes(const Options& stage) { return stage.task == Task::write; }
bool translates(const Options& stage) { return stage.task == Task::translate; }
bool fills(const Options& stage) { return stage.task == Task::fill || stage.task == Task::measure; }
bool reads_on(const Options& stage) { return !fills(stage) && !translates(stage); }
bool draws(const Options& stage) { return fills(stage) || translates(stage); }
bool checkpoints(const Options& stage) { return stage.checkpoint >= 0; }
bool chunks(const Options& stage) { return stage.chunk >= 0; }
constexpr auto prunes = with<&Options::tolerance>;
constexpr auto trains = with<&Options::steps>, uses_trainer = with<&Options::n_embd>;  // 01 has a loop of its own

template <class T>
bool take(const json& from, T& value) {  // false if it is of another kind
    if constexpr (std::is_same_v<T, std::string>) {
        if (!from.is_string()) return false;
    } else if constexpr (std::is_same_v<T, bool>) {
        if (!from.is_boolean()) return false;
    } else if constexpr (std::is_same_v<T, uint64_t>) {
        if (!from.is_number_unsigned()) return false;
    } else if constexpr (std::is_same_v<T, int>) {
        if (!from.is_number_integer() || from.get<double>() != double(from.get<int>())) return false;
    } else {
        if (!from.is_number()) return false;
    }
    value = from.get<T>();
    return true;
}

ordered_json saved_options(Options options) {
    options.threads = thread_count(options);
    ordered_json values;
    for (const Option& option : option_table())
        if (option.saved == saved) std::visit([&](auto field) { values[option.name] = options.*field; }, option.field);
    return values;
}

}  // namespace

const std::vector<Option>& option_table() {
    using O = Options;
    static const std::vector<Option> table{
        {"stage", &O::stage, Group::none, every, saved, 1, 0, "the program"},

        {"data", &O::data, Group::text, reads_on, saved, 1, 0, "a UTF-8 file, or the built-in tales or verses"},
        {"data", &O::data, Group::text, fills, saved, 1, 0,
         "a UTF-8 file with a sentence in each line and empty lines between texts, or the built-in tales"},
        {"data", &O::data, Group::text, translates, saved, 1, 0,
         "a UTF-8 file with a text, a tab and its translation in each line, or the built-in pairs"},
        {"batch_size", &O::batch_size, Group::text, with<&O::batch_size>, saved, 1, million,
         "texts a step: more is steadier and slower"},
        {"block_size", &O::block_size, Group::text, with<&O::block_size>, saved, 1, million,
         "characters the model sees at once"},

        {"n_embd", &O::n_embd, Group::model, with<&O::n_embd>, saved, 1, million, "numbers that stand for a character"},
        {"n_head", &O::n_head, Group::model, with<&O::n_head>, saved, 1, million, "attention heads side by side"},
        {"n_layer", &O::n_layer, Group::model, with<&O::n_layer>, saved, 1, thousand, "blocks on top of each other"},
        {"positions",
         &O::positions,
         Group::model,
         with<&O::positions>,
         saved,
         1,
         0,
         "what a score knows of where two characters stand: their places, or how far apart they are",
         {"absolute", "relative_key", "relative_key_query"}},
        {"dropout", &O::dropout, Group::model, with<&O::dropout>, saved, 0, 0.99,
         "share zeroed while training, against learning by heart"},
        {"pruned_heads", &O::pruned_heads, Group::none, prunes, saved, 0, 0, "heads that were cut out, by layer"},

        {"steps", &O::steps, Group::training, trains, saved, 0, billion, "updates of the parameters"},
        {"learning_rate", &O::learning_rate, Group::training, trains, saved, 1e-9, thousand, "how far an update goes"},
        {"warmup", &O::warmup, Group::training, uses_trainer, saved, 0, billion,
         "steps until the learning rate is reached: large models start badly at once"},
        {"decay", &O::decay, Group::training, uses_trainer, saved, 0, 1,
         "1: the learning rate falls, so that the last steps settle; 0: it stays"},
        {"weight_decay", &O::weight_decay, Group::training, trains, saved, 0, thousand,
         "how strongly parameters shrink on their own"},
        {"beta1", &O::beta1, Group::training, trains, saved, 0, 0.999999,
         "AdamW: how much of the mean gradient stays at each step"},
        {"beta2", &O::beta2, Group::training, trains, saved, 0, 0.999999,
         "AdamW: how much of the mean squared gradient stays at each step"},
        {"clip", &O::clip, Group::training, uses_trainer, saved, 0, billion, "the longest gradient allowed; 0: any"},
        {"eval_interval", &O::eval_interval, Group::training, trains, saved, 1, billion, "steps between evaluations"},
        {"eval_batches", &O::eval_batches, Group::training, trains, saved, 1, million,
         "batches an evaluation averages over"},
        {"threads", &O::threads, Group::training, trains, saved, 0, 1024, "worker threads; 0: one per core"},
        {"checkpoint", &O::checkpoint, Group::training, checkpoints, to_resume, 0, thousand,
         "to save memory, so many layers together are computed again instead of kept; 0: none"},
        {"chunk", &O::chunk, Group::training, chunks, to_resume, 0, million,
         "to save memory, so many places go through the feed-forward layer at once; 0: all"},
        {"out", &O::out, Group::training, every, not_saved, 1, 0, "directory of the run"},
        {"save_interval", &O::save_interval, Group::training, trains, to_resume, 1, billion,
         "steps between savings for --resume"},
        {"snapshots", &O::snapshots, Group::training, trains, to_resume, 0, million,
         "MB for the weights at the evaluations, through which the workshop's slider moves; 0: none"},
        {"resume", &O::resume, Group::training, trains, not_saved, 0, 1,
         "go on with the run in --out, exactly as if it had not stopped"},

        {"model", &O::model, Group::trained_model, every, not_saved, 1, 0, "directory of the run to use"},

        {"tolerance", &O::tolerance, Group::pruning, prunes, not_saved, 0, thousand,
         "how much higher the loss may get, in nats, for heads to be cut out"},
        {"out", &O::out, Group::pruning, prunes, not_saved, 1, 0, "directory for the model that is left"},

        {"prompt", &O::prompt, Group::writing, writes, to_resume, 0, 0,
         "text to continue (default: a new paragraph); for sample, - reads standard input"},
        {"tokens", &O::tokens, Group::writing, writes, to_resume, 0, billion, "characters to write"},
        {"temperature", &O::temperature, Group::writing, writes, to_resume, 0, 100,
         "below 1 prefers the likely, 0 always takes the likeliest"},
        {"top_k", &O::top_k, Group::writing, writes, to_resume, 0, billion,
         "choose among the k likeliest characters; 0: all"},
        {"top_p", &O::top_p, Group::writing, writes, to_resume, 1e-6, 1,
         "choose among the likeliest with this total probability"},
        {"seed", &O::seed, Group::chance, every, saved, 0, 0, "of all that is random: another seed, another text"},

        {"count", &O::count, Group::showing, writes, not_saved, 1, billion, "texts to write"},
        {"stop", &O::stop, Group::showing, writes, not_saved, 0, 0, "end a text after this"},
        {"show",
         &O::show,
         Group::showing,
         writes,
         not_saved,
         0,
         0,
         "surprise (colour by surprise) or choices (the five likeliest beside each)",
         {"surprise", "choices"}},
        {"interactive", &O::interactive, Group::showing, writes, not_saved, 0, 1, "ask for prompts again and again"},

        {"show",
         &O::show,
         Group::showing,
         fills,
         not_saved,
         0,
         0,
         "attention: where each head looks, a row for each token",
         {"attention"}},
        {"show",
         &O::show,
         Group::showing,
         translates,
         not_saved,
         0,
         0,
         "alignment: which characters each written one looked at",
         {"alignment"}},
        {"svg", &O::svg, Group::showing, draws, not_saved, 1, 0, "file for the same as a picture"},
        {"hidden", &O::hidden, Group::showing, fills, not_saved, 1, 0,
         "file for all hidden states and attentions, as safetensors"},
    };
    return table;
}

std::string Option::flag() const {
    std::string word = "--" + name;
    std::replace(word.begin(), word.end(), '_', '-');
    return word;
}

bool Option::fits(const Options& options) const {
    auto check = [&](auto Options::*its) {
        const auto& value = options.*its;
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
            if (!words.empty()) return std::ranges::find(words, value) != words.end();
            return least == 0 || (!value.empty() && !value.starts_with("--"));  // a name, and not the next option
        } else {
            return std::is_same_v<T, uint64_t> || (value >= least && value <= most);  // NaN is not >=
        }
    };
    return std::visit(check, field);
}

bool Option::empty(const Options& options) const {
    return std::visit([&](auto its) { return options.*its == std::decay_t<decltype(options.*its)>{}; }, field);
}

std::string Option::wanted() const {
    auto describe = [&](auto Options::*its) {
        using T = std::decay_t<decltype(std::declval<Options>().*its)>;
        if constexpr (std::is_same_v<T, std::string>) {
            if (words.empty()) return std::string(least > 0 ? "the name of a file or directory" : "a text");
            std::string list = words[0];
            for (size_t i = 1; i < words.size(); ++i) list += " or " + words[i];
            return list;
        } else if constexpr (std::is_same_v<T, double>) {
            return str("a number from ", least, " to ", most);
        } else {
            bool any = std::is_same_v<T, uint64_t>;
            return str("a whole number from ", int64_t(least), " to ", any ? UINT64_MAX : uint64_t(most));
        }
    };
    return std::visit(describe, field);
}

int thread_count(const Options& options) {
    return options.threads ? options.threads : int(std::max(1u, std::thread::hardware_concurrency()));
}

std::string options_to_json(const Options& options) { return saved_options(options).dump(); }

Options options_from_json(const std::string& text, const std::string& file, const Options& stage) {
    json values = json::parse(text, nullptr, false);
    if (!values.is_object()) fail(file, " is damaged: its options are not a JSON object");
    Options options = stage;
    for (const Option& option : option_table()) {
        if (option.saved != saved || !values.contains(option.name)) continue;
        const json& value = values[option.name];
        bool good = std::visit([&](auto field) { return take(value, options.*field); }, option.field);
        good = good && (option.fits(options) || (!option.has(stage) && option.empty(options)));
        if (!good)
            fail(file, " is damaged: its options have ", option.name, " ",
                 value.is_structured() ? value.type_name() : brief(value.dump()), ", not ", option.wanted());
        values.erase(option.name);
    }
    if (!values.empty())
        fail(file, " has the option ", brief(values.begin().key()), ", which this version does not know");
    if (!heads_fit(options))
        fail(file, " is damaged: its options have n_embd ", options.n_embd, ", not a multiple of n_head ",
             options.n_head);
    return options;
}

std::string difference(const Options& now, const Options& before) {
    ordered_json values = saved_options(now), others = saved_options(before);
    for (const Option& option : option_table())
        if (option.saved == saved && values[option.name] != others[option.name])
            return option.flag() + " is " + values[option.name].dump() + ", it was " + others[option.name].dump();
    return "";
}

bool heads_fit(const Options& options) { return !options.n_head || options.n_embd % options.n_head == 0; }

}  // namespace babygpt
