#include "common/app/command_line.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <map>

#include "common/base/error.h"
#include "common/base/files.h"

namespace babygpt {

namespace {

struct CommandRow {
    Command command;
    std::string name, help;
    std::vector<Group> groups;                // of the options it has
    std::vector<std::string> arguments = {};  // texts that it needs; [SECOND] may be left out
};

const std::map<Group, std::string> headings{
    {Group::text, "The text"},           {Group::model, "The model"},
    {Group::training, "Training"},       {Group::trained_model, "The trained model"},
    {Group::pruning, "Pruning"},         {Group::writing, "What it writes"},
    {Group::showing, "How it is shown"}, {Group::chance, "Chance"},
};

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

template <class T>
bool read_word(const std::string& word, T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
        value = word;
        return true;
    } else if constexpr (std::is_same_v<T, bool>) {
        value = word == "1";
        return word == "0" || word == "1";
    } else {
        auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        return error == std::errc() && end == word.data() + word.size();
    }
}

// A check that a word is a value of the option's range, all of it, and says what was wanted otherwise. A whole number
// goes on without leading zeros, with which CLI11 would take it for octal.
CLI::Validator in_range(const Option& option) {
    auto check = [&option](std::string& word) {
        Options tried;
        auto read = [&](auto field) {
            auto& value = tried.*field;
            bool good = read_word(word, value) && option.fits(tried);
            if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>)
                if (good) word = std::to_string(value);
            return good;
        };
        return std::visit(read, option.field) ? "" : in_quotes(word) + " is not " + option.wanted();
    };
    std::string words;
    for (const std::string& word : option.words) words += (words.empty() ? "{" : ",") + word;
    return CLI::Validator(check, words.empty() ? "" : words + "}");
}

void add(CLI::App& command, const Option& option, Options& options) {
    auto add_field = [&](auto Options::*field) {
        auto& value = options.*field;
        constexpr bool is_switch = std::is_same_v<decltype(value), bool&>;
        if constexpr (is_switch)
            if (option.saved != Saved::always) return command.add_flag(option.flag(), value, option.help);
        CLI::Option* added = command.add_option(option.flag(), value, option.help)->capture_default_str();
        // A switch that is saved takes 0 or 1: a stage may have it on, so there must be a way to switch it off.
        if constexpr (is_switch) added->type_name("INT")->default_str(str(value));
        return added->transform(in_range(option));
    };
    std::visit(add_field, option.field)->group(headings.at(option.group));
}

const Option* find_option(const std::string& flag) {
    for (const Option& option : option_table())
        if (option.flag() == flag && option.group != Group::none) return &option;
    return nullptr;
}

// --block_size is --block-size, and --prompt= gives no text.
std::vector<std::string> spelt(const std::vector<std::string>& words) {
    std::vector<std::string> result;
    for (const std::string& word : words) {
        size_t length = std::min(word.find('='), word.size());
        std::string flag = word.substr(0, length);
        if (flag.starts_with("--")) std::replace(flag.begin(), flag.end(), '_', '-');
        bool known = find_option(flag), no_text = word.size() == length + 1;
        result.push_back(!known ? word : no_text ? flag : flag + word.substr(length));
        if (known && no_text) result.push_back("");
    }
    return result;
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

// An option of another stage or command is refused by its name; for anything else the nearest is suggested.
[[noreturn]] void refuse_unknown(const CLI::App& command, const std::string& word) {
    std::string name = word.substr(0, word.find('=')), nearest;
    if (!name.starts_with("--")) fail("unexpected ", in_quotes(word), "; see --help");
    if (find_option(name)) fail("this stage's ", command.get_name(), " has no ", name, "; --help lists what it has");
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_positional()) continue;
        std::string candidate = "--" + option->get_lnames().at(0);
        if (nearest.empty() || edit_distance(name, candidate) < edit_distance(name, nearest)) nearest = candidate;
    }
    bool near = edit_distance(name, nearest) <= 1 + name.size() / 3;
    fail("unknown option ", name, near ? "; did you mean " + nearest + "?" : ";", " --help lists all");
}

std::vector<CommandRow> commands_of(const Options& stage) {
    const bool trains = stage.model.empty();
    const std::string first = trains ? "train" : "compare",
                      then = stage.task == Task::write       ? "write a sample"
                             : stage.task == Task::translate ? "translate what it has not seen"
                                                             : "fill some blanks",
                      done = " (done when no command is given)";
    std::vector<CommandRow> commands;
    if (stage.task == Task::measure)
        commands.push_back({Command::measure, "measure", "memory and time of a step, in tables" + done, {}});
    commands.push_back({trains ? Command::train : Command::compare, first,
                        first + ", then " + then + (commands.empty() ? done : ""),
                        trains ? std::vector{Group::text, Group::model, Group::training, Group::writing, Group::chance}
                               : std::vector{Group::trained_model, Group::writing, Group::chance}});
    const std::vector<Group> asking{Group::trained_model, Group::showing};
    if (stage.task == Task::write)
        commands.push_back(
            {Command::sample,
             "sample",
             "write with a trained model",  // without steps nothing is kept: it counts again
             {stage.steps ? Group::trained_model : Group::text, Group::writing, Group::showing, Group::chance}});
    if (stage.tolerance)
        commands = {{Command::prune,
                     "prune",
                     "say what each head is worth, then cut out the least useful (done when no command is given)",
                     {Group::trained_model, Group::pruning}},
                    {Command::train,
                     "train",
                     "train a model on, pruned or whole",
                     {Group::trained_model, Group::training, Group::chance}}};
    if (stage.task != Task::write && stage.task != Task::translate) {
        commands.push_back({Command::fill,
                            "fill",
                            "guess the characters that stand as _ in a text; - reads lines",
                            asking,
                            {"TEXT", "[SECOND]"}});
        commands.push_back({Command::follows,
                            "follows",
                            "say how likely the second text belongs to the first",
                            asking,
                            {"FIRST", "SECOND"}});
    }
    if (stage.task == Task::translate)
        commands.push_back(
            {Command::translate, "translate", "say a text in the other language; - reads lines", asking, {"TEXT"}});
    return commands;
}

std::string describe(const Options& stage) {
    if (stage.tolerance) return "finds out what each head of a trained BERT is worth, and cuts out the least useful.";
    if (stage.task == Task::measure) return "measures what a step of training needs, and trains with less.";
    if (stage.task == Task::fill) return "reads sentences both ways, fills blanks, and says what belongs together.";
    if (stage.task == Task::translate) return "reads a sentence and writes it in another language.";
    return stage.model.empty() ? "trains a character language model on a text, then lets it write."
                               : "writes with a trained model, with and without a cache.";
}

std::string arguments(const CommandRow& row) {
    std::string list;
    for (const std::string& argument : row.arguments) list += " " + argument;
    return list;
}

std::string names(const std::vector<CommandRow>& commands) {
    std::string list = commands[0].name + " (the default)";
    for (size_t i = 1; i < commands.size(); ++i) list += (i + 1 < commands.size() ? ", " : " and ") + commands[i].name;
    return list;
}

}  // namespace

Command parse_options(int argc, char** argv, Options& options) {
    Options stage = options;
    return parse_options(argc, argv, options, stage);
}

Command parse_options(int argc, char** argv, Options& options, const Options& stage) {
    const std::vector<CommandRow> commands = commands_of(stage);
    const CommandRow* chosen = &commands[0];
    std::vector<std::string> words = spelt({argv + 1, argv + argc});
    bool help = !words.empty() && (words[0] == "--help" || words[0] == "-h"), named = false;
    for (const CommandRow& row : commands)
        if (!words.empty() && words[0] == row.name) chosen = &row, named = true;
    if (!words.empty() && !named && !words[0].starts_with("-"))
        fail("unknown command ", in_quotes(words[0]), "; there is ", names(commands), "; see --help");
    if (!named && !help) words.insert(words.begin(), chosen->name);

    CLI::App app("Stage " + stage.stage + ": " + describe(stage), stage.stage);
    app.require_subcommand(1);
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // a script's options can be changed
    if (options.out.empty()) options.out = "runs/" + stage.stage;
    // A stage that is given a model to begin with and saves another trains on and answers with its own.
    auto model_of = [&](const CommandRow& row) {
        bool its_own = stage.model.empty() || (stage.tolerance && row.command != Command::prune);
        return its_own ? "runs/" + stage.stage : stage.model;
    };
    for (const CommandRow& row : commands) options.texts.resize(std::max(options.texts.size(), row.arguments.size()));
    for (const CommandRow& row : commands) {
        CLI::App& command = *app.add_subcommand(row.name, row.help)->allow_extras();
        command.get_formatter()->column_width(34);
        options.model = model_of(row);  // shown as the default
        for (Group group : row.groups)
            for (const Option& option : option_table())
                if (option.group == group && option.has(stage)) add(command, option, options);
        for (size_t i = 0; i < row.arguments.size(); ++i)
            command.add_option(row.arguments[i], options.texts[i])->required(row.arguments[i][0] != '[');
    }
    options.model = model_of(*chosen);
    CLI::App& command = *app.get_subcommand(chosen->name);
    try {
        std::reverse(words.begin(), words.end());  // as CLI11 takes them
        app.parse(words);
    } catch (const CLI::CallForHelp&) {
        std::string text = command.help(stage.stage);
        if (help) {
            text = app.get_description() + "\n";
            for (const CommandRow& row : commands)
                text += str(&row == &commands[0] ? "Usage: " : "       ", stage.stage, " ",
                            &row == &commands[0] ? "[" + row.name + "]" : row.name, " [OPTIONS]", arguments(row), "\n");
            for (const CLI::App* each : app.get_subcommands({})) text += "\n" + each->help("", CLI::AppFormatMode::Sub);
        }
        std::fputs(text.c_str(), stdout);
        flush_output();
        std::exit(0);
    } catch (const CLI::ArgumentMismatch& error) {  // the last word is an option without its value
        std::string message = error.what();
        fail(message.substr(0, message.find(':')), " needs a value; see --help");
    } catch (const CLI::RequiredError&) {
        auto is_dashed = [](std::string word) { return word.size() > 1 && word[0] == '-' && !find_option(word); };
        bool dashed = std::any_of(argv + 1, argv + argc, is_dashed);
        fail(chosen->name, " needs", arguments(*chosen), dashed ? "; one that begins with - stands behind --" : "",
             "; see --help");
    } catch (const CLI::ParseError& error) {
        fail(error.what());
    }
    for (const std::string& extra : command.remaining())
        if (extra != "--") refuse_unknown(command, extra);  // what stands behind -- is a text
    while (options.out.size() > 1 && options.out.ends_with('/')) options.out.pop_back();  // which Tab adds
    options.texts.resize(chosen->arguments.size());
    if (!options.texts.empty() && chosen->arguments.back()[0] == '[' && options.texts.back().empty())
        options.texts.pop_back();
    if (!options.texts.empty() && options.texts[0] == "-" && !(options.svg + options.hidden).empty())
        fail(options.svg.empty() ? "--hidden" : "--svg", " writes one file about one text; with - there are many");
    if (options.resume && options.model != model_of(*chosen))
        fail("--resume goes on with the model of the run in --out; leave out --model");
    if (options.interactive && (options.count > 1 || !options.prompt.empty()))
        fail("--interactive asks for one prompt after the other; leave out ",
             options.count > 1 ? "--count" : "--prompt");
    if (!heads_fit(options))
        fail("--n-embd ", options.n_embd, " is not a multiple of --n-head ", options.n_head,
             "; each head takes an equal share, so try --n-embd ",
             (options.n_embd / options.n_head + 1) * options.n_head);
    if (options.chunk > 0 && options.block_size % options.chunk)
        fail("--block-size ", options.block_size, " is not a multiple of --chunk ", options.chunk,
             "; texts are padded to whole chunks, and the longest must fit");
    return chosen->command;
}

}  // namespace babygpt
