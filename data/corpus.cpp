// The built-in corpora on the command line: write one, print its entropy, judge a text or translations by the grammar.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "common/app/guarded.h"
#include "common/base/error.h"
#include "common/base/files.h"
#include "common/base/signals.h"
#include "common/text/pairs.h"
#include "common/text/utf8.h"
#include "data/grammar.h"
#include "data/pairs.h"

using namespace babygpt;

namespace {

struct Wish {
    std::string grammar;
    int64_t seed = 1;
    int64_t bytes = 1'000'000;  // a few thousand tales: a small GPT can't learn them by heart in some minutes
    int64_t count = 20'000;
    std::string file;
};

const Grammar& grammar(const Wish& wish) { return wish.grammar == "tales" ? tales() : verses(); }

Generated generate(const Wish& wish) {
    return grammar(wish).write(static_cast<uint64_t>(wish.seed), static_cast<size_t>(wish.bytes));
}

void print_entropy(const Wish& wish) {
    Generated text = generate(wish);
    std::printf("%s, seed %lld: %zu characters\n", wish.grammar.c_str(), static_cast<long long>(wish.seed),
                text.characters);
    std::printf("%.4f nats per character: the grammar, on average over all texts\n", grammar(wish).entropy_per_char());
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

void judge_pairs(const std::string& file) {
    std::vector<ParallelCorpus::Pair> pairs = parse_pairs(file == "-" ? "standard input" : file, read_file(file));
    size_t sentences = 0, exact = 0;
    for (const ParallelCorpus::Pair& pair : pairs) {
        std::optional<std::string> right = translation(encode_utf8(pair.source));
        sentences += right.has_value();
        exact += right == encode_utf8(pair.target);
    }
    print_line("in form", sentences, pairs.size());
    print_line("exact", exact, pairs.size());
}

void run(const CLI::App& app, const Wish& wish) {
    bool in_pairs = wish.grammar == "pairs";
    if (app.got_subcommand("write")) {
        const CLI::App& write = *app.get_subcommand("write");
        if (write.count(in_pairs ? "--bytes" : "--count") > 0)
            fail(in_pairs ? "pairs are counted: give --count, not --bytes" : "--count is for pairs: give --bytes");
        std::string text = in_pairs ? to_lines(pairs(uint64_t(wish.seed), size_t(wish.count))) : generate(wish).text;
        std::fwrite(text.data(), 1, text.size(), stdout);
    } else if (app.got_subcommand("entropy")) {
        print_entropy(wish);
    } else if (in_pairs) {
        judge_pairs(wish.file);
    } else {
        print_score(grammar(wish).judge(read_file(wish.file)));
    }
}

}  // namespace

int main(int argc, char** argv) {
    survive_closed_pipes();
    Wish wish;
    CLI::App app{
        "The built-in corpora: little English tales, Chinese verses, or pairs: sentences of tales and their "
        "translations."};
    app.require_subcommand(1);
    CLI::App* write = app.add_subcommand("write", "write the text to standard output");
    CLI::App* entropy = app.add_subcommand("entropy", "print the true entropy in nats per character");
    CLI::App* judge = app.add_subcommand(
        "judge",
        "count the tales that follow the grammar and remember rightly, or the pairs that are exact translations");
    for (CLI::App* command : {write, judge})
        command->add_option("grammar", wish.grammar, "tales, verses or pairs")
            ->required()
            ->check(CLI::IsMember({"tales", "verses", "pairs"}));
    entropy->add_option("grammar", wish.grammar, "tales or verses; a translation leaves no choice")
        ->required()
        ->check(CLI::IsMember({"tales", "verses"}));
    // Without leading zeros, with which CLI11 would take a number for octal.
    auto decimal = [](std::string word) {
        return word.erase(0, std::min(word.find_first_not_of('0'), word.size() - 1));
    };
    for (CLI::App* command : {write, entropy}) {
        command->add_option("--seed", wish.seed, "another seed, another text")
            ->capture_default_str()
            ->transform(decimal)
            ->check(CLI::Range(int64_t{0}, INT64_MAX));
        command->add_option("--bytes", wish.bytes, "its size; the last tale is always whole")
            ->capture_default_str()
            ->transform(decimal)
            ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}));
    }
    write->add_option("--count", wish.count, "how many pairs")
        ->capture_default_str()
        ->transform(decimal)
        ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
    judge
        ->add_option("file", wish.file,
                     "the text to judge, or lines of two columns with a tab between; - is standard input")
        ->required();

    return guarded("corpus", [&] {
        try {
            app.parse(argc, argv);
        } catch (const CLI::CallForHelp& help) {
            std::exit(app.exit(help));
        } catch (const CLI::ParseError& error) {
            fail(error.what(), " (there is write, entropy and judge; see --help)");
        }
        run(app, wish);
    });
}
