// Runs from the command line: what they write, that they repeat exactly, and what is sampled from them.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "common/train/checkpoint.h"
#include "tests/shell.h"

using namespace babygpt;
using Json = nlohmann::json;

namespace {

std::string sample_of(const std::string& stage) {
    return stage + (stage == "00_counts" ? " sample --data text" : " sample") + " --tokens 30";
}

}  // namespace

TEST_SUITE("command line") {
    TEST_CASE("--help names every option, for the stage and for its commands" * with_programs()) {
        Shell shell;
        const Cells everywhere{"--data",  "--out",  "--prompt", "--tokens", "--temperature", "--top-k",
                               "--top-p", "--seed", "--count",  "--stop",   "--show",        "--interactive"},
            learning{"--batch-size",    "--block-size",   "--steps",    "--learning-rate",
                     "--eval-interval", "--eval-batches", "--threads",  "--save-interval",
                     "--resume",        "--model",        "--snapshots"},
            gpt{"--n-embd", "--n-head", "--n-layer", "--dropout"};
        for (const std::string& stage : all_stages) {
            std::string help = works(shell, stage + " --help"),
                        parts = works(shell, stage + " train --help; " + stage + " sample -h");
            CHECK(help == works(shell, stage + " -h"));
            CAPTURE(stage);
            auto named = [&](const Cells& options, bool wanted) {
                for (const std::string& option : options) {
                    CAPTURE(option);
                    CHECK(says(help, option + " ") == wanted);
                    CHECK(says(parts, option + " ") == wanted);
                }
            };
            named(everywhere, true);
            named(learning, stage != "00_counts");
            if (stage == "00_counts" || stage == "01_bigram") named(gpt, false);
            if (stage == "10_gpt") named(gpt, true);
            CHECK(says(help, "Usage: " + stage + " [train] [OPTIONS]"));
            CHECK(says(parts, "Usage: " + stage + " sample [OPTIONS]"));
        }
        CHECK(says(works(shell, "11_kvcache --help"), "--model"));
    }

    TEST_CASE("a run says which program trained it if that is a stage with a change" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        auto as = [&](const std::string& name, const std::string& line) {
            works(shell, "(exec -a " + name + " " + line + " --out run)");
            Json run = Json::parse(shell.read("run/run.json"));
            std::set<std::string> programs;
            for (const char* file : {"model.safetensors", "resume.safetensors", "snapshots/0.safetensors"})
                programs.insert(load_metadata(shell.path(str("run/", file)))["program"]);
            REQUIRE(programs.size() == 1);
            CHECK(run.value("program", "") == *programs.begin());
            CHECK(run["stage"] == "03_head");
            return *programs.begin();
        };
        for (const char* stage : {"03_head", "build/mpi/03_head", "/tmp/asan/03_head"})
            CHECK(as(stage, quick("03_head")) == "");
        CHECK(as("build/experiments/no_mask", quick("03_head")) == "no_mask");
        CHECK(as("build/experiments/no_mask", "03_head train --resume --steps 7") == "no_mask");
        CHECK(as("03_head", "03_head train --resume --steps 9") == "no_mask");  // most of it was another program's
        works(shell, "03_head sample --model run --tokens 5");
    }

    TEST_CASE("every stage writes its files whole, with all that was promised in them" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string& stage : all_stages) {
            CAPTURE(stage);
            std::string said = works(shell, quick(stage) + " --prompt The");
            std::string run = "runs/" + stage + "/";
            bool trained = stage != "00_counts";
            std::set<std::string> names, expected{"metrics.csv", "run.json", "samples.txt"};
            if (trained) expected.insert({"model.safetensors", "resume.safetensors"});
            for (const auto& [name, bytes] : shell.files(run))
                if (!name.starts_with("snapshots/")) names.insert(name);
            CHECK(names == expected);
            CHECK(shell.has(run + "snapshots/0.safetensors") == trained);

            auto table = columns(shell.read(run + "metrics.csv"));
            REQUIRE(table.size() == 5);
            CHECK(table[0] == (trained ? Cells{"step", "0", "2", "4", "5"} : Cells{"step", "0"}));
            CHECK(table[1][0] == "train_loss");
            CHECK(table[2][0] == "val_loss");
            CHECK(table[3][0] == "tokens_per_second");
            CHECK(table[4][0] == "seconds");
            Json json = Json::parse(shell.read(run + "run.json"));
            CHECK(json.at("stage") == stage);
            CHECK(json.at("options").at("data") == "text");
            CHECK(json.at("vocab_size").get<int>() > 30);
            CHECK(json.at("parameters").get<int>() > 100);
            CHECK(json.at("steps") == (trained ? 5 : 0));
            for (const char* number : {"/final/train_loss", "/final/val_loss", "/best/val_loss", "/tokens_per_second",
                                       "/baselines/uniform", "/baselines/unigram", "/baselines/bigram"})
                CHECK_MESSAGE(std::isfinite(json.at(Json::json_pointer(number)).get<double>()), number);
            CHECK(!json["baselines"].contains("floor"));  // of a text from a file it is not known
            CHECK(std::stod(table[2].back()) == doctest::Approx(json["final"]["val_loss"].get<double>()));
            CHECK(json["best"]["step"].get<int>() >= 0);

            std::string sample = shell.read(run + "samples.txt");
            CHECK(sample.starts_with("The"));
            CHECK(sample.size() == 3 + 20 + 1);
            CHECK(says(said, sample));
            CHECK(says(said, "files   runs/" + stage + "/"));
            CHECK(said.find('\033') == said.npos);  // plain lines, as this is no terminal
            CHECK(said.find('\r') == said.npos);
        }
    }

    TEST_CASE("a new run keeps the earlier one under another name, finished or not" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"00_counts", "01_bigram", "04_multihead"}) {
            std::string run = "runs/" + stage;
            std::string said = works(shell, quick(stage));
            CHECK(!says(said, "kept"));
            auto first = shell.files(run);
            CHECK(says(works(shell, quick(stage) + " --seed 2"), "kept    the earlier run, as " + run + ".1/\n"));
            CHECK(shell.files(run + ".1") == first);
            works(shell, "rm " + run + "/run.json");  // as if it had been killed
            auto second = shell.files(run);
            CHECK(says(works(shell, quick(stage) + " --out " + run + "/"), run + ".2/\n"));
            CHECK(shell.files(run + ".1") == first);
            CHECK(shell.files(run + ".2") == second);
        }
    }

    TEST_CASE("the same seed gives the same bytes, another seed others, at any number of threads" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"01_bigram", "04_multihead", "06_block", "10_gpt"}) {
            CAPTURE(stage);
            std::string line = quick(stage, 4) + " --eval-interval 4";
            works(shell, line + " --threads 2 --out a");
            works(shell, line + " --threads 2 --out b");
            works(shell, line + " --threads 1 --out c");
            works(shell, line + " --threads 1 --out d");
            works(shell, line + " --threads 2 --seed 2 --out e");
            for (const char* file : {"/model.safetensors", "/samples.txt"}) {
                CHECK(shell.read(std::string("a") + file) == shell.read(std::string("b") + file));
                CHECK(shell.read(std::string("c") + file) == shell.read(std::string("d") + file));
                CHECK(shell.read(std::string("a") + file) != shell.read(std::string("e") + file));
            }
            auto a = columns(shell.read("a/metrics.csv")), b = columns(shell.read("b/metrics.csv")),
                 c = columns(shell.read("c/metrics.csv"));
            CHECK(a[1] == b[1]);
            CHECK(a[2] == b[2]);
            for (size_t i = 1; i < a[2].size(); ++i)  // other sums, but the same run
                CHECK(std::stod(a[2][i]) == doctest::Approx(std::stod(c[2][i])).epsilon(1e-3));
            works(shell, "rm -r a b c d e");
        }
    }

    TEST_CASE("how often it is evaluated or saved does not change what is learned" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"01_bigram", "05_feedforward", "10_gpt"}) {
            works(shell, quick(stage, 6) + " --eval-interval 1 --save-interval 1 --out often");
            works(shell, quick(stage, 6) + " --eval-interval 100 --eval-batches 5 --tokens 3 --out seldom");
            CHECK(tensors(shell, "often/resume.safetensors") == tensors(shell, "seldom/resume.safetensors"));
            CHECK(columns(shell.read("seldom/metrics.csv"))[0] == Cells{"step", "0", "6"});
            CHECK(columns(shell.read("often/metrics.csv"))[0].size() == 8);
            works(shell, "rm -r often seldom");
        }
    }

    TEST_CASE("step 0 is evaluated before the first update, the last step after it" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"01_bigram", "03_head"}) {
            works(shell, quick(stage, 5) + " --eval-interval 4 --out run; " + quick(stage, 0) + " --out untrained; " +
                             quick(stage, 6) + " --eval-interval 5 --out longer");
            auto run = columns(shell.read("run/metrics.csv")), untrained = columns(shell.read("untrained/metrics.csv")),
                 longer = columns(shell.read("longer/metrics.csv"));
            CHECK(run[0] == Cells{"step", "0", "4", "5"});
            CHECK(longer[0] == Cells{"step", "0", "5", "6"});
            for (size_t loss : {1, 2}) {
                CHECK(run[loss][1] == untrained[loss][1]);
                CHECK(run[loss][3] == longer[loss][2]);
                CHECK(run[loss][2] != run[loss][3]);
            }
            works(shell, "rm -r run untrained longer");
        }
    }

    TEST_CASE("--block_size is --block-size, the last of two values counts, and 0 steps are a run" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("02_position") + " --block_size=6 --steps 3 --steps 0 --n_embd 8");
        Json json = Json::parse(shell.read("runs/02_position/run.json"));
        CHECK(json["options"]["block_size"] == 6);
        CHECK(json["options"]["n_embd"] == 8);
        CHECK(json["steps"] == 0);
        CHECK(columns(shell.read("runs/02_position/metrics.csv"))[0] == Cells{"step", "0"});
    }

    TEST_CASE("any UTF-8 text will do: marks, CRLF, emoji, Chinese, the built-in ones" * with_programs()) {
        Shell shell;
        std::string text = "\xef\xbb\xbf";
        for (int i = 0; i < 40; ++i) text += "Zo\u00eb \U0001F600 e\u0301\r\n\u4f60\u597d\uff0c\u4e16\u754c\r\n";
        shell.write("text", text);
        for (const std::string& stage : all_stages) {
            works(shell, quick(stage, 1) + " --prompt $'\u4f60\u597d\\r\\n'");
            CHECK(Json::parse(shell.read("runs/" + stage + "/run.json"))["vocab_size"] == 14);
            CHECK(shell.read("runs/" + stage + "/samples.txt").starts_with("\u4f60\u597d\r\n"));
        }
        for (const char* corpus : {"verses", "tales"}) {
            std::string said = works(shell, std::string("00_counts --out built-in --data ") + corpus);
            CHECK(says(said, std::string(" of 40 ") + corpus + " follow the grammar"));
            CHECK(Json::parse(shell.read("built-in/run.json"))["baselines"]["floor"].get<double>() > 0.1);
        }
    }

    TEST_CASE("every stage works with a vocabulary of 6,000 characters" * with_programs()) {
        Shell shell;
        std::string text;
        for (int i = 0; i < 12000; ++i) {  // the characters from U+4E00 on, in an order that repeats nothing
            int c = 0x4e00 + i * 7 % 6000;
            text += {char(0xe0 | c >> 12), char(0x80 | (c >> 6 & 63)), char(0x80 | (c & 63))};
        }
        shell.write("text", text);
        for (const std::string& stage : several_stages) {
            works(shell, quick(stage, 1));
            CHECK(Json::parse(shell.read("runs/" + stage + "/run.json"))["vocab_size"] == 6000);
            CHECK(shell.read("runs/" + stage + "/samples.txt").size() == 3 * 20 + 1);
            works(shell, "rm -r runs/" + stage);
        }
    }

    TEST_CASE("sample writes from every stage's run, the same for the same seed" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string& stage : several_stages) {
            CAPTURE(stage);
            works(shell, quick(stage, 20));
            std::string line = sample_of(stage), once = works(shell, line);
            CHECK(once.size() == 31);
            CHECK(once == works(shell, line));
            CHECK(once != works(shell, line + " --seed 2 --temperature 2 --top-p 1 --top-k 0"));
            std::string greedy = works(shell, line + " --temperature 0");
            CHECK(greedy == works(shell, line + " --temperature 0 --seed 2"));
            CHECK(greedy == works(shell, line + " --top-k 1 --seed 3"));
            CHECK(works(shell, line + " --prompt The --tokens 0") == "The\n");
            CHECK(works(shell, line + " --prompt The").starts_with("The"));
            CHECK(works(shell, "printf 'The\\n' | " + line + " --prompt -") == works(shell, line + " --prompt The"));
            CHECK(works(shell, line + " --tokens 300").size() == 301);  // far beyond the block of 8
            CHECK(works(shell, line + " --prompt \"$(head -c 900 text)\"").size() == 900 + 31);
            CHECK(works(shell, line + " --temperature 1e-9").size() == 31);
        }
    }

    TEST_CASE("sample: several texts, a stop, what the model thought, and a conversation" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("03_head", 200) + "; " + quick("10_gpt", 20));
        std::string line = sample_of("03_head");
        std::string twice = works(shell, line + " --count 2"), once = works(shell, line);
        CHECK(twice.starts_with(once + "\n---\n"));
        CHECK(twice.size() > once.size() + 31);
        std::string stopped = works(shell, line + " --tokens 3000 --stop e");
        CHECK(stopped.find('e') == stopped.size() - 2);
        std::string choices = works(shell, line + " --show choices"),
                    surprise = works(shell, line + " --show surprise");
        CHECK(std::count(choices.begin(), choices.end(), '\n') >= 30);
        CHECK(std::count(choices.begin(), choices.end(), '%') == 30 * 5);
        CHECK(std::count(surprise.begin(), surprise.end(), '\n') >= 30);
        CHECK(surprise.find('\033') == surprise.npos);
        Result talk = shell("printf 'The\\n\u00eb\\nThe\\n' | " + line + " --interactive");
        CHECK(talk.code == 0);
        CHECK(says(talk.err, "(U+00EB) at position 1"));
        CHECK(says(works(shell, line + " 2>&1"), "longest run also in the training text: "));
        CHECK(!says(works(shell, "mv text gone; " + line + " 2>&1; mv gone text"), "longest run"));
        CHECK(works(shell, "11_kvcache sample --tokens 50") == works(shell, sample_of("10_gpt") + " --tokens 50"));
    }

    TEST_CASE("report: the picture names each run as told or by its directory, over the ruler" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("01_bigram") + " --out one; " + quick("02_position") + " --out two; mkdir runs");
        works(shell, "report one two/");
        std::string picture = shell.read("runs/losses.svg");
        CHECK(picture == works(shell, "report --picture one two/"));
        for (const char* words : {"<svg ", ">one<", ">two<", ">bigram ", "</svg>"}) CHECK(says(picture, words));
        refuses(shell, "report --picture", "name the run directories");
        std::string named = works(shell, "report --picture two one='by gradient' one");
        for (const char* words : {">two<", ">by gradient<", ">one<"}) CHECK(says(named, words));
        // A stage keeps its colour wherever it is named; a second run of it is dashed.
        auto line_of = [](const std::string& svg, const std::string& name) {
            size_t end = svg.find(">" + name + "<"), start = svg.rfind("<path", end);
            return svg.substr(svg.find("stroke=", start), 16);
        };
        CHECK(line_of(named, "by gradient") == line_of(picture, "one"));
        CHECK(line_of(named, "one") == line_of(picture, "one"));
        CHECK(line_of(named, "two") == line_of(picture, "two"));
        CHECK(line_of(named, "two") != line_of(named, "one"));
        CHECK(says(named, "stroke-dasharray=\"8 4\""));
        CHECK(!says(picture, "stroke-dasharray=\"8 4\""));
        refuses(shell, "report nowhere=name", "nowhere/run.json");
    }

    TEST_CASE("draw: pictures from tables, and a clear line for what is none" * with_programs()) {
        Shell shell;
        std::string map = works(shell, "printf '# a\\n\\tb\\t<\\nr\\t0\\t1\\n' | draw heat title");
        CHECK(says(map, "fill-opacity=\"1.00\""));
        CHECK(says(map, ">&lt;<"));  // a label is text
        std::string chart = works(shell, "printf 'x up down\\n0 0 2\\n1 2 0\\n' | draw chart title across height");
        CHECK(says(chart, "M50.0 445.0L560.0 40.0"));
        CHECK(says(chart, "M50.0 40.0L560.0 445.0"));
        chart = works(shell, "printf 'x up\\n0 0\\n1 -\\n2 2\\n' | draw chart title across height");
        CHECK(says(chart, "M50.0 445.0L560.0 40.0"));  // no point at 1
        CHECK_FALSE(says(map, "rotate"));
        CHECK(says(works(shell, "printf '# a\\n\\tword\\t树\\nr\\t0\\t1\\n' | draw heat title"), "rotate(-90"));
        refuses(shell, "draw", "usage");
        refuses(shell, "draw heat title", "nothing to draw");
        refuses(shell, "printf '# a\\n\\n' | draw heat title", "label the columns");
        refuses(shell, "printf '# a\\n\\tb\\n\\n' | draw heat title", "expected a label and 1 numbers");
        refuses(shell, "printf '# a\\n\\tb\\nr\\tx\\n' | draw heat title", "expected a number, found \"x\"");
        refuses(shell, "printf 'x\\n' | draw chart title x y", "has to name x and");
        refuses(shell, "printf 'x y\\n1\\n' | draw chart title x y", "expected 2 numbers, found \"1\"");
        refuses(shell, "printf 'x y\\n1 nan\\n' | draw chart title x y", "found \"nan\"");
    }
}
