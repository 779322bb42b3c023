// The built-in corpus on the command line: write it, print its entropy, judge a text by its grammar.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>

#include "common/base/files.h"
#include "common/train/trainer.h"
#include "data/grammar.h"

using namespace babygpt;

namespace {

struct Wish {
    std::string grammar;
    int64_t seed = 1;
    int64_t bytes = 1'000'000;  // a few thousand tales: a small GPT can't learn them by heart in some minutes
    std::string file;
};

const Grammar& grammar(const Wish& options) { return options.grammar == "tales" ? tales() : verses(); }

Generated generate(const Wish& options) {
    return grammar(options).write(static_cast<uint64_t>(options.seed), static_cast<size_t>(options.bytes));
}

void print_entropy(const Wish& options) {
    Generated text = generate(options);
    std::printf("%s, seed %lld: %zu characters\n", options.grammar.c_str(), static_cast<long long>(options.seed),
                text.characters);
    std::printf("%.4f nats per character: the grammar, on average over all texts\n",
                grammar(options).entropy_per_char());
    std::printf("%.4f nats per character: this text\n", text.nats_per_char());
    std::printf("%.4f nats per character: its last tenth, the validation part\n",
                text.nats_per_char(text.characters - text.characters / 10));
}

void print_line(const std::string& what, size_t right, size_t of) {
    std::printf("%-12s %8zu of %8zu", what.c_str(), right, of);
    if (of > 0) std::printf("  %5.1f %%", 100 * static_cast<double>(right) / static_cast<double>(of));
    std::printf("\n");
}

void print_score(const Score& score) {
    print_line("in form", score.in_form, score.tales);
    print_line("all right", score.all_right, score.tales);
    print_line("slots right", score.slots_right, score.slots);
    for (const Score::Slots& kind : score.kinds) print_line("  " + kind.kind, kind.right, kind.slots);
}

void run(const CLI::App& app, const Wish& options) {
    if (app.got_subcommand("write")) {
        std::string text = generate(options).text;
        std::fwrite(text.data(), 1, text.size(), stdout);
    } else if (app.got_subcommand("entropy")) {
        print_entropy(options);
    } else {
        print_score(grammar(options).judge(read_file(options.file)));
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error to report, not a silent death
    Wish options;
    CLI::App app{"The built-in corpus: little English tales, or Chinese verses."};
    app.require_subcommand(1);
    CLI::App* write = app.add_subcommand("write", "write the text to standard output");
    CLI::App* entropy = app.add_subcommand("entropy", "print the true entropy in nats per character");
    CLI::App* judge = app.add_subcommand("judge", "count the tales that follow the grammar and remember rightly");
    for (CLI::App* command : {write, entropy, judge})
        command->add_option("grammar", options.grammar, "tales or verses")
            ->required()
            ->check(CLI::IsMember({"tales", "verses"}));
    for (CLI::App* command : {write, entropy}) {
        command->add_option("--seed", options.seed, "another seed, another text")
            ->capture_default_str()
            ->check(CLI::Range(int64_t{0}, INT64_MAX));
        command->add_option("--bytes", options.bytes, "its size; the last tale is always whole")
            ->capture_default_str()
            ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}));
    }
    judge->add_option("file", options.file, "the text to judge; - is standard input")->required();

    return guarded("corpus", [&] {
        try {
            app.parse(argc, argv);
        } catch (const CLI::CallForHelp& help) {
            std::exit(app.exit(help));
        } catch (const CLI::ParseError& error) {
            fail(error.what(), " (there is write, entropy and judge; see --help)");
        }
        run(app, options);
    });
}
