#include "common/base/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/error.h"

namespace babygpt {

namespace {

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

// A check that reads the whole word as a number of the range, and says what was wanted otherwise.
template <class T>
CLI::Validator in_range(T least, T most) {
    std::string wanted = str(std::is_integral_v<T> ? "a whole number" : "a number", " from ", least, " to ", most);
    auto check = [=](const std::string& word) {
        T v{};
        auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), v);
        bool good =
            error == std::errc() && end == word.data() + word.size() && v >= least && v <= most;  // NaN is not >=
        return good ? std::string() : in_quotes(word) + " is not " + wanted;
    };
    return CLI::Validator(check, "");
}

// A check that a name is there at all, and that it is not the next option.
CLI::Validator a_name() {
    auto check = [](const std::string& word) {
        bool good = !word.empty() && !word.starts_with("--");
        return good ? std::string() : in_quotes(word) + " is not the name of a file or directory";
    };
    return CLI::Validator(check, "");
}

size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0]++;
        for (size_t j = 1; j <= b.size(); ++j) {
            size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row.back();
}

constexpr int most = 1'000'000'000;

void add_sampling(CLI::App& command, Options& o, const char* prompt) {
    auto group = "What it writes";
    auto add = [&](const char* name, auto& value, const char* help) {
        return command.add_option(name, value, help)->group(group)->capture_default_str();
    };
    add("--prompt", o.prompt, prompt);
    add("--tokens", o.tokens, "characters to write")->check(in_range(0, most));
    add("--temperature", o.temperature, "below 1 prefers the likely, 0 always takes the likeliest")
        ->check(in_range(0.0, 100.0));
    add("--top-k", o.top_k, "choose among the k likeliest characters; 0: all")->check(in_range(0, most));
    add("--top-p", o.top_p, "choose among the likeliest with this total probability")->check(in_range(1e-6, 1.0));
    add("--seed", o.seed, "of all that is random: another seed, another text")
        ->check(in_range(uint64_t{0}, std::numeric_limits<uint64_t>::max()));
}

void add_writing(CLI::App& command, Options& o) {
    auto group = "How it is shown";
    command.add_option("--count", o.count, "texts to write")
        ->group(group)
        ->capture_default_str()
        ->check(in_range(1, most));
    command.add_option("--stop", o.stop, "end a text after this")->group(group);
    command.add_option("--show", o.show, "surprise (colour by surprise) or choices (the five likeliest beside each)")
        ->group(group)
        ->check(CLI::IsMember({"surprise", "choices"}));
    command.add_flag("--interactive", o.interactive, "ask for prompts again and again")->group(group);
}

// The options that `stage`, a stage's defaults, has a use for.
void add_training(CLI::App& command, Options& o, const Options& stage) {
    auto add = [&](const char* group, const char* name, auto& value, const char* help) {
        return command.add_option(name, value, help)->group(group)->capture_default_str();
    };
    auto text = "The text", model = "The model", training = "Training";
    add(text, "--data", o.data, "a UTF-8 file, or the built-in tales or verses")->check(a_name());
    if (stage.batch_size) add(text, "--batch-size", o.batch_size, "blocks a step")->check(in_range(1, 1'000'000));
    if (stage.block_size)
        add(text, "--block-size", o.block_size, "characters seen at once")->check(in_range(1, 1'000'000));
    if (stage.n_embd)
        add(model, "--n-embd", o.n_embd, "numbers that stand for a character")->check(in_range(1, 1'000'000));
    if (stage.n_head) add(model, "--n-head", o.n_head, "attention heads")->check(in_range(1, 1'000'000));
    if (stage.n_layer) add(model, "--n-layer", o.n_layer, "blocks on top of each other")->check(in_range(1, 1000));
    if (stage.dropout > 0)
        add(model, "--dropout", o.dropout, "share zeroed while training")->check(in_range(0.0, 0.99));
    if (stage.steps) {
        add(training, "--steps", o.steps, "updates of the parameters")->check(in_range(0, most));
        add(training, "--learning-rate", o.learning_rate, "how far an update goes")->check(in_range(1e-9, 1e3));
        if (stage.warmup)
            add(training, "--warmup", o.warmup, "steps until the learning rate is reached")->check(in_range(0, most));
        add(training, "--eval-interval", o.eval_interval, "steps between evaluations")->check(in_range(1, most));
        add(training, "--eval-batches", o.eval_batches, "batches an evaluation averages over")
            ->check(in_range(1, 1'000'000));
        add(training, "--threads", o.threads, "worker threads; 0: one per core")->check(in_range(0, 1024));
    }
    add(training, "--out", o.out, "directory of the run")->default_str("runs/" + o.stage)->check(a_name());
    if (!stage.steps) return;
    add(training, "--save-interval", o.save_interval, "steps between savings for --resume")->check(in_range(1, most));
    command.add_flag("--resume", o.resume, "go on with the run in --out, exactly as if it had not stopped")
        ->group(training);
}

// An option of another stage or command is refused by its name; for anything else the nearest is suggested, if it is
// near.
void refuse_unknown(const CLI::App& command, const std::string& word) {
    std::string name = word.substr(0, word.find('=')), nearest;
    if (!name.starts_with("--")) fail("unexpected ", in_quotes(word), "; see --help");
    Options all{.n_embd = 1, .n_head = 1, .n_layer = 1, .dropout = 0.1, .warmup = 1};
    CLI::App every;
    add_training(every, all, all);
    add_writing(every, all);
    every.add_option("--model", all.model);
    if (every.get_option_no_throw(name))
        fail("this stage's ", command.get_name(), " has no ", name, "; --help lists what it has");
    for (const CLI::Option* option : command.get_options()) {
        std::string candidate = "--" + option->get_lnames().at(0);
        if (nearest.empty() || edit_distance(name, candidate) < edit_distance(name, nearest)) nearest = candidate;
    }
    bool near = edit_distance(name, nearest) <= 1 + name.size() / 3;
    fail("unknown option ", name, near ? "; did you mean " + nearest + "?" : ";", " --help lists all");
}

// Each option that determines a run's result, by its name in files.
template <class O, class F>
void for_saved_options(O& o, F f) {
    f("stage", o.stage), f("data", o.data), f("batch_size", o.batch_size), f("block_size", o.block_size);
    f("n_embd", o.n_embd), f("n_head", o.n_head), f("n_layer", o.n_layer), f("dropout", o.dropout);
    f("steps", o.steps), f("learning_rate", o.learning_rate), f("warmup", o.warmup), f("decay", o.decay);
    f("weight_decay", o.weight_decay), f("clip", o.clip), f("eval_interval", o.eval_interval);
    f("eval_batches", o.eval_batches), f("threads", o.threads), f("seed", o.seed);
}

// What the sizes must have to do with each other.
void check_together(const Options& o) {
    if (o.n_head && o.n_embd % o.n_head)
        fail("--n-embd ", o.n_embd, " is not a multiple of --n-head ", o.n_head,
             "; each head takes an equal share, so try --n-embd ", (o.n_embd / o.n_head + 1) * o.n_head);
}

}  // namespace

Command parse_options(int argc, char** argv, Options& options) {
    Options stage = options;
    return parse_options(argc, argv, options, stage);
}

Command parse_options(int argc, char** argv, Options& options, const Options& stage) {
    std::vector<std::string> words(argv + 1, argv + argc);
    for (std::string& word : words)  // --block_size is --block-size
        if (word.starts_with("--")) std::replace(word.begin(), std::find(word.begin(), word.end(), '='), '_', '-');
    const bool trains = stage.model.empty();
    const std::string first = trains ? "train" : "compare", model = trains ? "runs/" + stage.stage : stage.model;
    bool help = !words.empty() && (words[0] == "--help" || words[0] == "-h");
    bool named = !words.empty() && (words[0] == first || words[0] == "sample");
    if (!words.empty() && !named && !words[0].starts_with("-"))
        fail("unknown command ", in_quotes(words[0]), "; there is ", first, " (the default) and sample; see --help");
    if (!named && !help) words.insert(words.begin(), first);

    CLI::App app("Stage " + stage.stage +
                     (trains ? ": trains a character language model on a text, then lets it write."
                             : ": writes with a trained model, with and without a cache."),
                 stage.stage);
    app.require_subcommand(1);
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // a script's options can be changed
    CLI::App& main = *app.add_subcommand(first, first + ", then write a sample (done when no command is given)");
    CLI::App& sample = *app.add_subcommand("sample", "write with a trained model");
    for (CLI::App* command : {&main, &sample}) {
        command->allow_extras();
        command->get_formatter()->column_width(34);
    }
    auto add_model = [&](CLI::App& command) {
        command.add_option("--model", options.model, "directory of the run to use")
            ->default_str(model)
            ->check(a_name());
    };
    trains ? add_training(main, options, stage) : add_model(main);
    add_sampling(main, options, "text to continue (default: a new paragraph)");
    if (stage.steps)
        add_model(sample);
    else  // nothing learnt that could be kept: it counts again
        sample.add_option("--data", options.data, "the text to count")->capture_default_str()->check(a_name());
    add_sampling(sample, options, "text to continue; - reads it from standard input (default: a new paragraph)");
    add_writing(sample, options);
    CLI::App& command = !words.empty() && words[0] == "sample" ? sample : main;
    try {
        std::reverse(words.begin(), words.end());  // as CLI11 takes them
        app.parse(words);
    } catch (const CLI::CallForHelp&) {
        if (help)
            std::cout << app.get_description() << "\nUsage: " << stage.stage << " [" << first << "] [OPTIONS]\n       "
                      << stage.stage << " sample [OPTIONS]\n\n"
                      << main.help("", CLI::AppFormatMode::Sub) << "\n"
                      << sample.help("", CLI::AppFormatMode::Sub);
        else
            std::cout << command.help(stage.stage);
        std::cout << std::flush;
        std::exit(0);
    } catch (const CLI::ArgumentMismatch& error) {  // the last word is an option without its value
        std::string message = error.what();
        fail(message.substr(0, message.find(':')), " needs a value; see --help");
    } catch (const CLI::ParseError& error) {
        fail(error.what());
    }
    if (std::vector<std::string> extras = command.remaining(); !extras.empty()) refuse_unknown(command, extras[0]);
    if (options.out.empty()) options.out = "runs/" + stage.stage;
    if (options.model.empty()) options.model = model;
    if (options.threads == 0) options.threads = int(std::max(1u, std::thread::hardware_concurrency()));
    check_together(options);
    return &command == &sample ? Command::sample : trains ? Command::train : Command::compare;
}

std::string options_to_json(const Options& options) {
    nlohmann::ordered_json json;
    for_saved_options(options, [&](const char* name, const auto& value) { json[name] = value; });
    return json.dump();
}

std::string difference(const Options& now, const Options& before) {
    auto values = nlohmann::ordered_json::parse(options_to_json(now)),
         others = nlohmann::ordered_json::parse(options_to_json(before));
    for (const auto& [name, value] : values.items()) {
        if (value == others[name]) continue;
        std::string option = "--" + name;
        std::replace(option.begin(), option.end(), '_', '-');
        return option + " is " + value.dump() + ", it was " + others[name].dump();
    }
    return "";
}

Options options_from_json(const std::string& text, const std::string& file) {
    Options options;
    auto json = nlohmann::json::parse(text, nullptr, false);
    try {
        for_saved_options(options, [&](const char* name, auto& value) { json.at(name).get_to(value); });
    } catch (const nlohmann::json::exception&) {
        fail(file, " is damaged: its options are not ones a run wrote");
    }
    bool sound = options.block_size >= 0 && options.n_embd >= 0 && options.n_head >= 0 && options.n_layer >= 0 &&
                 options.batch_size >= 0 && options.steps >= 0 && options.threads >= 1 && options.threads <= 1024 &&
                 options.eval_interval >= 1 && options.eval_batches >= 1 && options.dropout >= 0 &&
                 options.dropout < 1 && (!options.n_head || options.n_embd % options.n_head == 0);
    if (!sound) fail(file, " is damaged: its options make no sense");
    return options;
}

}  // namespace babygpt
