// The table of options: what it makes of a command line, of --help, and of the options in a file.
#include "common/base/options.h"

#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "common/babygpt.h"
#include "common/train/training_step.h"
#include "tests/check.h"
#include "tests/shell.h"

using namespace babygpt;
using Json = nlohmann::json;

namespace {

// Defaults of a stage that has everything.
const Options whole{.stage = "12_relative",
                    .n_embd = 8,
                    .n_head = 2,
                    .n_layer = 2,
                    .positions = "relative_key",
                    .dropout = 0.1,
                    .warmup = 5};

Options read(const Json& json, const Options& stage = whole) {
    return options_from_json(json.dump(), "model.file", stage);
}
Json with(const std::string& name, const Json& value) {
    Json json = Json::parse(options_to_json(whole));
    json[name] = value;
    return json;
}

struct Bigram : LanguageModel {
    Embedding table;
    Bigram(const Options&, int vocab_size, Rng& rng)
        : table(vocab_size, vocab_size, rng) {
        add("table", table);
    }
    Tensor operator()(const Tokens& ids) const override { return table(ids); }
};

}  // namespace

TEST_SUITE("options") {
    TEST_CASE("the table: a task has every name once, and the default of what a stage has is in its range or empty") {
        std::set<std::pair<std::string, int>> names;
        std::set<std::string> saved, of_whole{"stage"};
        Options pruning = whole;
        pruning.tolerance = 0.1;
        for (const Option& option : option_table()) {
            CAPTURE(option.name);
            for (Task task : {Task::write, Task::fill, Task::translate, Task::measure}) {
                Options stage = whole;
                stage.task = task;
                if (option.has(stage)) CHECK(names.insert({option.name, int(task)}).second);
            }
            CHECK(!option.help.empty());
            CHECK((option.fits({}) || option.empty({}) || !option.has({})));
            if (option.saved == Saved::always) saved.insert(option.name);
            if (option.has(whole) || option.has(pruning)) of_whole.insert(option.name);
        }
        CHECK(std::ranges::includes(of_whole, saved));
    }

    TEST_CASE("options_to_json: what is saved comes back, and the rest is as the stage has it") {
        Options o = whole;
        o.data = "a \"book\".txt", o.learning_rate = 0.1, o.decay = true, o.beta1 = 0.5, o.beta2 = 0.75;
        o.clip = 2, o.weight_decay = 0, o.threads = 3, o.seed = UINT64_MAX, o.tokens = 7;
        Options after = options_from_json(options_to_json(o), "model.file", whole);
        CHECK(options_to_json(after) == options_to_json(o));
        CHECK(difference(o, after).empty());
        CHECK(after.seed == UINT64_MAX);
        CHECK(after.learning_rate == 0.1);
        CHECK(after.tokens == whole.tokens);
    }

    TEST_CASE("options_from_json: an option that is not in the file, as it is older, is as the stage has it") {
        Json json = Json::parse(options_to_json(whole));
        for (const Option& option : option_table()) {
            Json older = json;
            older.erase(option.name);
            CHECK(options_to_json(read(older)) == options_to_json(whole));
        }
        CHECK(options_to_json(read(Json::object())) == options_to_json(whole));
    }

    TEST_CASE("options_from_json: an option that this version does not know is named") {
        check_error([] { read(with("rotary", true)); }, {"model.file", "rotary", "does not know"});
        check_error([] { read(with("prompt", "x")); }, {"model.file", "prompt"});  // not one of a file's
        check_error([] { read(with("bad\nname\x1b" + std::string(100'000, 'x'), 1)); }, {"option bad?name?xxx"});
    }

    TEST_CASE("options_from_json: every option is of its kind and in its range") {
        for (const Option& option : option_table()) {
            if (option.saved != Saved::always) continue;
            CAPTURE(option.name);
            auto refused = [&](const Json& value) {
                CAPTURE(value.dump());
                check_error([&] { read(with(option.name, value)); },
                            {"model.file is damaged", "options have " + option.name + " ", option.wanted()});
            };
            bool text = std::holds_alternative<std::string Options::*>(option.field);
            bool whole_number = std::holds_alternative<int Options::*>(option.field);
            for (const Json& value : {Json(nullptr), Json::array(), Json::object(), text ? Json(7) : Json("7")})
                refused(value);
            if (text) {
                if (option.least > 0) refused("");
                continue;
            }
            refused(-1);
            if (whole_number) refused(1.5), refused(true), refused(4'294'967'298), refused(UINT64_MAX);
            if (option.name != "seed" && option.name != "decay") refused(option.most + 1);
            if (whole_number && option.least == 1) refused(0);
        }
        check_error([] { options_from_json("x", "model.file", whole); }, {"model.file", "options"});
        std::string deep = "{\"n_embd\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
        check_error([&] { options_from_json(deep, "model.file", whole); }, {"options have n_embd array, not"});
    }

    TEST_CASE("options_from_json: a size of 0 means that a stage has no such thing, so only such a stage may have it") {
        for (const char* name : {"n_head", "n_layer", "n_embd"}) {
            check_error([&] { read(with(name, 0)); }, {name, " 0, not a whole number from 1"});
            Json json = with("n_head", 0);
            json[name] = 0;
            read(json, {.stage = "10_gpt"});
        }
        check_error([] { read(with("n_head", 3)); }, {"model.file", "n_embd 8", "not a multiple of n_head 3"});
    }

    TEST_CASE("difference: the first saved option that differs, as it is typed") {
        Options other = whole;
        other.prompt = "x", other.out = "elsewhere";
        CHECK(difference(other, whole).empty());
        other.weight_decay = 0.5, other.seed = 2;
        CHECK(difference(other, whole) == "--weight-decay is 0.5, it was 0.01");
    }

    TEST_CASE("threads: none given are one per core, wherever threads are used, and files hold the number used") {
        const int cores = int(std::max(1u, std::thread::hardware_concurrency()));
        Options o{.stage = "test", .batch_size = 4, .block_size = 4, .eval_batches = 3, .tokens = 10};
        CHECK(thread_count(o) == cores);
        CHECK(thread_count({.threads = 3}) == 3);
        CHECK(Json::parse(options_to_json(o))["threads"] == cores);
        Corpus corpus = make_corpus("text", "to be or not to be, that is the question\n\nand more of it\n\n");
        auto make = [](const Options& options, int V, Rng& rng) { return std::make_unique<Bigram>(options, V, rng); };
        Options same = o;
        same.threads = cores;
        LanguageModelling language(o, corpus, make), same_language(same, corpus, make);
        Trainer one(o, language), two(same, same_language);
        CHECK(one.step() == two.step());
        const auto &first = static_cast<LanguageModel&>(one.model()),
                   &second = static_cast<LanguageModel&>(two.model());
        CHECK(evaluate(first, corpus, o).val == evaluate(second, corpus, same).val);
        NextLogits next = next_logits(first, 4);
        CHECK(write_tales(next, corpus.vocabulary, o, 3) == write_tales(next, corpus.vocabulary, same, 3));
    }

    TEST_CASE("--help: every training option is there from stage 02 on" * with_programs()) {
        Shell shell;
        for (const std::string& stage : trained_stages) {
            if (stage == "01_bigram") continue;
            std::string help = works(shell, stage + " train --help");
            for (const Option& option : option_table())
                if (option.group == Group::training && option.has({.n_embd = 1}))
                    CHECK_MESSAGE(says(help, "\n  " + option.flag() + " "), stage, " lacks ", option.flag());
        }
    }

    TEST_CASE("every training option changes the run, and is in its files" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("10_gpt", 9) + " --warmup 2 --out plain");
        for (const char* option : {"decay 0", "clip 0.001", "weight_decay 0.5", "beta1 0.5", "beta2 0.5"}) {
            CAPTURE(option);
            std::string name = std::string(option).substr(0, std::string(option).find(' '));
            works(shell, quick("10_gpt", 9) + " --warmup 2 --out changed --" + option);
            CHECK(tensors(shell, "changed/resume.safetensors") != tensors(shell, "plain/resume.safetensors"));
            Json changed = Json::parse(shell.read("changed/run.json"))["options"],
                 plain = Json::parse(shell.read("plain/run.json"))["options"];
            CHECK(changed[name] != plain[name]);
            plain[name] = changed[name];
            CHECK(changed == plain);
            works(shell, "rm -r changed");
        }
        refuses(shell, "10_gpt --decay 2", "--decay: '2' is not a whole number from 0 to 1");
        refuses(shell, "01_bigram --clip 1", "this stage's train has no --clip");
        works(shell, quick("01_bigram") + " --beta1 0.5 --weight-decay 0.1");
    }

    TEST_CASE("--positions: a stage that has no choice refuses it, another word is refused with the right ones" *
              with_programs()) {
        Shell shell;
        write_small_text(shell);
        refuses(shell, "12_relative --positions nonsense",
                "--positions: 'nonsense' is not absolute or relative_key or relative_key_query");
        refuses(shell, "10_gpt --positions absolute", "this stage's train has no --positions");
        works(shell, quick("12_relative") + " --positions absolute --out run");
        CHECK(Json::parse(shell.read("run/run.json"))["options"]["positions"] == "absolute");
        works(shell, "12_relative --resume --out run --steps 7; 12_relative sample --model run --tokens 5");
        refuses(shell, "12_relative --resume --out run --steps 9 --positions relative_key",
                "--positions is \"relative_key\", it was \"absolute\"");
    }

    TEST_CASE("a whole number with leading zeros is what it says, and no octal" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("01_bigram") + " --steps 0010 --seed 011 --out run");
        Json options = Json::parse(shell.read("run/run.json"))["options"];
        CHECK(options["steps"] == 10);
        CHECK(options["seed"] == 11);
        for (const std::string line :
             {"corpus write tales --bytes 100 --seed ", "corpus write pairs --seed 1 --count "})
            CHECK(works(shell, line + "010") == works(shell, line + "10"));
    }

    TEST_CASE("--help on a full disk is an error, as any other output is" * with_programs()) {
        Shell shell;
        for (const std::string command :
             {"03_head --help", "03_head sample --help", "00_counts -h", "11_kvcache --help"})
            refuses(shell, command + " >/dev/full", "cannot write to standard output: No space left on device");
    }

    TEST_CASE("--prompt= is an empty prompt, and a prompt may look like an option" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        std::string plain = works(shell, "00_counts sample --data text --tokens 30");
        CHECK(works(shell, "00_counts sample --data text --tokens 30 --prompt=") == plain);
        CHECK(works(shell, "00_counts sample --data text --prompt= --tokens 30") == plain);
        CHECK(works(shell, "00_counts sample --data text --tokens 30 --prompt ''") == plain);
        shell.write("dashes", "--so_it = is --so_it goes " + shell.read("text"));
        CHECK(works(shell, "00_counts sample --data dashes --prompt --so_it=").starts_with("--so_it="));
        refuses(shell, "00_counts --tokens=", "--tokens: '' is not a whole number");
    }
}
