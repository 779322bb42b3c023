// The program that translates, as a user types it: what it refuses, what it writes, and that it does so again.
#include <nlohmann/json.hpp>

#include "common/train/checkpoint.h"
#include "tests/shell.h"

using namespace babygpt;

namespace {

// A small file of two columns: the right one says the left one backwards.
void write_pairs(const Shell& shell, int lines = 60) {
    std::string text;
    for (int i = 0; i < lines; ++i) {
        std::string source = {char('a' + i % 5), char('f' + i % 3), char('a' + i % 7), char('a' + i / 15)};
        source.resize(size_t(3 + i % 2));
        text += source + "\t" + std::string(source.rbegin(), source.rend()) + "\n";
    }
    shell.write("pairs.tsv", text);
}

std::string quick_translate(int steps) {
    return "14_translate --data pairs.tsv --n-embd 16 --n-head 2 --n-layer 1 --batch-size 8 --block-size 12 "
           "--eval-interval 3 --eval-batches 2 --threads 2 --steps " +
           std::to_string(steps);
}

size_t count_lines(const std::string& text) { return size_t(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

TEST_SUITE("command line") {
    TEST_CASE("14 trains on a file of two columns, says how many sentences are exact, and translates" *
              with_programs()) {
        Shell shell;
        write_pairs(shell);
        std::string said = works(shell, quick_translate(6) + " --out run");
        CHECK(says(said, "text    pairs.tsv: 60 sentences with their translations"));
        CHECK(says(said, " of 6 unseen sentences exact"));
        nlohmann::json run = nlohmann::json::parse(shell.read("run/run.json"));
        CHECK(run.at("baselines").at("unigram").get<double>() < run.at("baselines").at("uniform").get<double>());
        CHECK(count_lines(shell.read("run/samples.txt")) >= 12);
        CHECK(load_metadata(shell.path("run/model.safetensors"))["format"] == "pt");  // for Hugging Face
        CHECK(count_lines(works(shell, "14_translate translate abc --model run")) == 1);
    }

    TEST_CASE("translate - writes as many lines as it reads, each as it would alone" * with_programs()) {
        Shell shell;
        write_pairs(shell);
        works(shell, quick_translate(30) + " --out run");
        std::string lines = "ab\n\nbcd\n";
        for (int i = 0; i < 40; ++i) lines += "abcdefg\na\n";  // more than go side by side
        shell.write("lines", lines + "gab");
        std::string out = works(shell, "14_translate translate - --model run < lines");
        CHECK(count_lines(out) == 84);
        std::string alone;
        for (const char* text : {"ab", "", "bcd", "abcdefg", "a"})
            alone += works(shell, "14_translate translate '" + std::string(text) + "' --model run");
        CHECK(out.starts_with(alone));
        CHECK(works(shell, "14_translate translate - --model run < /dev/null") == "");
        shell.write("windows", "ab\r\n");
        CHECK(works(shell, "14_translate translate - --model run < windows") ==
              works(shell, "14_translate translate ab --model run"));
    }

    TEST_CASE("a translation that comes to no end is said to be cut, beside the one line that it is" *
              with_programs()) {
        Shell shell;
        shell.write("pairs.tsv", "a\tbbb\nb\tbbb\n");
        std::string run = " --model run", limits = " --data pairs.tsv --block-size 4 --threads 1 --out run";
        works(shell, "14_translate --n-embd 8 --n-head 2 --n-layer 1 --warmup 0 --decay 0 --steps 60" + limits);
        Result cut = shell("14_translate translate a" + run);
        CHECK(cut.out == "bbb\n");
        CHECK(cut.err == "warning: the translation of \"a\" may lack its end: it fills all 3 places\n");
        std::string map = shell("14_translate translate a --show alignment" + run).out;
        CHECK(count_lines(map) == 1 + 3 + 3);                  // a row for each b and none for an end
        nlohmann::json right{{"sentences", 1}, {"exact", 1}};  // it is judged by the pair of b
        CHECK(nlohmann::json::parse(shell.read("run/run.json")).at("judged") == right);
    }

    TEST_CASE("what cannot be translated is refused by its name, and what came before it is written" *
              with_programs()) {
        Shell shell;
        write_pairs(shell);
        works(shell, quick_translate(2) + " --out run");
        std::string translate = "14_translate translate --model run ";
        refuses(shell, translate + "abZ",
                "the text has characters the model does not know: 'Z' (U+005A) at position 3");
        refuses(shell, translate + "abcdeabcdea", "it has 11 characters, the model reads at most 10");
        refuses(shell, translate + "$'a\\xff'", "not UTF-8");
        refuses(shell, translate, "translate needs TEXT");
        refuses(shell, translate + "ab --foo", "unknown option --foo");
        refuses(shell, translate + "-- -a", "'-' (U+002D) at position 1");
        for (const char* berts : {"fill ab_", "follows ab ba"})
            refuses(shell, std::string("14_translate ") + berts, "there is train (the default) and translate");
        refuses(shell, translate + "ab cd ef", "unexpected 'cd'");
        refuses(shell, "14_translate translate ab --model nowhere", "nowhere/model.safetensors");
        refuses(shell, translate + "ab --show attention", "'attention' is not alignment");
        refuses(shell, translate + "ab --tokens 5", "this stage's translate has no --tokens");
        shell.write("lines", "ab\nba\naéb\nab\n");
        Result result = refuses(shell, translate + "- < lines", "line 3: the text has characters");
        CHECK(count_lines(result.out) == 2);
    }

    TEST_CASE("a file of pairs that is none is refused with its line, and what to do" * with_programs()) {
        Shell shell;
        auto refused = [&](const std::string& text, const std::string& words) {
            shell.write("pairs.tsv", text);
            refuses(shell, quick_translate(2) + " --out run", words);
        };
        refused("a\tb\nno tab\n", "line 2 of pairs.tsv");
        refused("a\tb\na\tb\tc\n", "line 2 of pairs.tsv");
        refused("a\tb\n\tb\n", "line 2 of pairs.tsv");
        refused("", "pairs.tsv is empty");
        refused("a\tb\nabcdefghijklmno\tb\n", "--block-size 17 is enough for all");
        refuses(shell, "14_translate --data nowhere.tsv", "nowhere.tsv");
    }

    TEST_CASE("--show alignment prints a row for each written character, --svg draws it" * with_programs()) {
        Shell shell;
        write_pairs(shell);
        works(shell, quick_translate(40) + " --out run");
        std::string out = works(shell, "14_translate translate abc --model run --show alignment --svg map.svg");
        CHECK(says(out, "[abc]"));
        CHECK(says(shell.read("map.svg"), "<svg"));
        std::string written = out.substr(0, out.find('\n'));
        CHECK(count_lines(out) == 1 + 3 + written.size() + (written.size() < 11));  // the end, if there was room
    }

    TEST_CASE("14: the same seed gives the same bytes, and so does a run that was resumed" * with_programs()) {
        Shell shell;
        write_pairs(shell);
        works(shell, quick_translate(9) + " --decay 0 --out whole; " + quick_translate(9) + " --decay 0 --out again; " +
                         quick_translate(6) + " --decay 0 --out parts");
        CHECK(says(works(shell, "14_translate --resume --out parts --steps 9"), "resumed at step 6\n"));
        for (const std::string other : {"again", "parts"}) {
            CHECK(tensors(shell, "whole/resume.safetensors") == tensors(shell, other + "/resume.safetensors"));
            CHECK(tensors(shell, "whole/model.safetensors") == tensors(shell, other + "/model.safetensors"));
            CHECK(shell.read("whole/samples.txt") == shell.read(other + "/samples.txt"));
            auto one = columns(shell.read("whole/metrics.csv")), two = columns(shell.read(other + "/metrics.csv"));
            for (size_t column : {0, 1, 2}) CHECK(one[column] == two[column]);
        }
        works(shell, quick_translate(9) + " --decay 0 --seed 2 --out other");
        CHECK(tensors(shell, "whole/model.safetensors") != tensors(shell, "other/model.safetensors"));
    }
}
