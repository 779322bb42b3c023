// Stage 13 as a user types it: trains, fills blanks, says what follows, and opens what Hugging Face saved.
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "common/base/files.h"
#include "common/base/format.h"
#include "tests/shell.h"
#include "tests/small_bert.h"

using namespace babygpt;
using Json = nlohmann::json;

namespace {

// A command line that trains on a few lines for a moment.
std::string quick_bert(int steps = 5) {
    return "13_bert --data lines --batch-size 4 --block-size 64 --n-embd 8 --n-head 2 --n-layer 1 --eval-interval 2 "
           "--eval-batches 2 --steps " +
           std::to_string(steps);
}

Json run_json(const Shell& shell, const std::string& run) { return Json::parse(shell.read(run + "/run.json")); }

}  // namespace

TEST_SUITE("command line: BERT") {
    TEST_CASE("a run writes its files, with a configuration and a vocabulary beside them" * with_programs()) {
        Shell shell;
        write_lines(shell);
        std::string said = works(shell, quick_bert());
        CHECK(says(said, "knowing nothing"));
        CHECK(says(said, "masked "));
        std::set<std::string> names;
        for (const auto& [name, bytes] : shell.files("runs/13_bert"))
            if (!name.starts_with("snapshots/")) names.insert(name);
        CHECK(names == std::set<std::string>{"config.json", "metrics.csv", "model.safetensors", "resume.safetensors",
                                             "run.json", "samples.txt", "vocab.txt"});
        Json json = run_json(shell, "runs/13_bert");
        for (const char* number : {"/final/train_loss", "/final/val_loss", "/final/masked_accuracy",
                                   "/final/follows_accuracy", "/best/val_loss", "/baselines/uniform", "/tokens"})
            CHECK_MESSAGE(std::isfinite(json.at(Json::json_pointer(number)).get<double>()), number);
        Json config = Json::parse(shell.read("runs/13_bert/config.json"));
        CHECK(config["model_type"] == "bert");
        CHECK(config["vocab_size"] == json["vocab_size"]);
        std::string vocabulary = shell.read("runs/13_bert/vocab.txt");
        CHECK(vocabulary.starts_with("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n \n"));
        CHECK(std::ranges::count(vocabulary, '\n') == json["vocab_size"]);
        CHECK(load_metadata(shell.path("runs/13_bert/model.safetensors"))["format"] == "pt");  // for Hugging Face
        CHECK(says(works(shell, quick_bert() + " --seed 2"), "kept    the earlier run, as runs/13_bert.1/"));
    }

    TEST_CASE("report: what a run guessed stands in its row, and no bits, as its loss is not that of a character" *
              with_programs()) {
        Shell shell;
        write_lines(shell);
        works(shell, quick_bert());
        Json final = run_json(shell, "runs/13_bert")["final"];
        std::string said = works(shell, "report runs/13_bert"), row = said.substr(said.find("13_bert"));
        row = row.substr(0, row.find('\n'));
        CHECK(row.ends_with(format("  %.1f%% of blanks, %.1f%% of pairs right", 100 * double(final["masked_accuracy"]),
                                   100 * double(final["follows_accuracy"]))));
        std::istringstream words(row);
        std::vector<std::string> cells{std::istream_iterator<std::string>(words), {}};
        CHECK(std::isfinite(std::stod(cells[3])));  // nats
        CHECK(cells[4] == "-");
    }

    TEST_CASE("a block that is full: the examples of a run still fit into it" * with_programs()) {
        Shell shell;
        write_lines(shell);
        for (const char* size : {"8", "9", "19"})
            works(shell,
                  "13_bert --data lines --batch-size 1 --n-embd 8 --n-head 2 --n-layer 1 --eval-batches 1 "
                  "--steps 1 --block-size " +
                      std::string(size));
    }

    TEST_CASE("a run that is stopped and resumed ends with the same bytes, at any number of threads" *
              with_programs()) {
        Shell shell;
        write_lines(shell);
        for (const char* more : {" --threads 1", " --threads 2 --positions relative_key_query"}) {
            if (sanitized && more == std::string(" --threads 1")) continue;
            works(shell, quick_bert(8) + " --decay 0 --out whole" + more);
            works(shell, quick_bert(4) + " --decay 0 --out parts" + more);
            CHECK(says(works(shell, "13_bert --resume --out parts --steps 8"), "resumed at step 4\n"));
            CHECK(tensors(shell, "whole/model.safetensors") == tensors(shell, "parts/model.safetensors"));
            CHECK(tensors(shell, "whole/resume.safetensors") == tensors(shell, "parts/resume.safetensors"));
            CHECK(shell.read("whole/samples.txt") == shell.read("parts/samples.txt"));
            CHECK(run_json(shell, "whole")["final"] == run_json(shell, "parts")["final"]);
            works(shell, "rm -r whole parts");
        }
        auto interrupted = [&](const std::string& line, const std::string& when) {
            return works(shell,
                         line + " >log & while ! " + when + "; do sleep 0.01; done; kill -INT $!; wait $!; cat log");
        };
        interrupted(quick_bert(10'000'000) + " --eval-interval 1000000 --save-interval 2 --out run",
                    "[ -e run/resume.safetensors ]");
        std::string resumed = interrupted("13_bert --resume --out run", "grep -q 'resumed at step [1-9]' log");
        std::smatch row;  // of an evaluation of which the model is not there any more
        REQUIRE(std::regex_search(resumed, row, std::regex("\n +0 .*")));
        CHECK(row.str().find("masked") == std::string::npos);
    }

    TEST_CASE("fill: every blank has five guesses, and the text comes back whole" * with_programs()) {
        Shell shell;
        write_lines(shell);
        works(shell, quick_bert());
        std::string said = works(shell, "13_bert fill 'At the _ Ada __t a red kite.'");
        for (const char* blank : {"blank 1 ", "blank 2 ", "blank 3 "}) CHECK(says(said, blank));
        CHECK(std::ranges::count(said, '\n') == 4);
        std::string last = said.substr(said.rfind('\n', said.size() - 2) + 1);
        CHECK(std::regex_match(last, std::regex("At the . Ada ..t a red kite[.]\n")));
        CHECK(works(shell, "13_bert fill 'At the _ Ada __t a red kite.'") == said);
        std::string two = works(shell, "13_bert fill 'Ada got a red kite.' 'The red ____ was in the box.'");
        CHECK(says(two, "\nAda got a red kite.\nThe red "));
        std::string lines = works(shell, "printf 'A _.\\nAda _.\\n' | 13_bert fill -");
        CHECK(std::ranges::count(lines, '\n') == 4);
        CHECK(works(shell, "printf 'A _.\\r\\nAda _.\\r\\n' | 13_bert fill -") == lines);
        refuses(shell, "echo 'A _.' | 13_bert fill - --svg map.svg", "--svg writes one file about one text");
        refuses(shell, "echo 'A _.' | 13_bert fill - --hidden file", "--hidden writes one file about one text");
        std::string probability = works(shell, "13_bert follows 'Ada got a red kite.' 'Ada was glad.'");
        CHECK(std::stod(probability) > 0);
        CHECK(std::stod(probability) < 1);
    }

    TEST_CASE("what is inside: attention in the terminal and as a picture, hidden states as a file" * with_programs()) {
        Shell shell;
        write_lines(shell);
        works(shell, quick_bert());
        std::string said = works(shell, "13_bert fill 'Ada _ot.' --show attention --svg map.svg --hidden inside");
        CHECK(says(said, "layer 0, head 0\n"));
        CHECK(says(said, "layer 0, head 1\n"));
        CHECK(says(said, " [CLS]  "));
        CHECK(shell.read("map.svg").starts_with("<svg"));
        CHECK(says(works(shell, "13_bert fill 'Ada _ot.' --svg /dev/stdout"), "</svg>\n"));
        CHECK(std::filesystem::is_symlink("/dev/stdout"));                        // and no file in its place
        std::string in_memory = "/dev/shm/" + std::to_string(getpid()) + ".svg";  // where files are files
        for (int twice = 0; twice < 2; ++twice) works(shell, "13_bert fill 'Ada _ot.' --svg " + in_memory);
        CHECK(read_file(in_memory).find("</svg>") == read_file(in_memory).rfind("</svg>"));
        std::filesystem::remove(in_memory);
        Checkpoint inside = load_safetensors(shell.path("inside"));
        REQUIRE(inside.tensors.size() == 3);
        CHECK(inside.tensors[0].name == "hidden_states.0");
        CHECK(inside.tensors[0].tensor.shape() == Shape{1, 10, 8});
        CHECK(inside.tensors[2].name == "attentions.0");
        CHECK(inside.tensors[2].tensor.shape() == Shape{1, 2, 10, 10});
    }

    TEST_CASE("a directory as Hugging Face saves it: filled, refused where a part is missing" * with_programs()) {
        Shell shell;
        SmallBert bert;
        bert.write(shell, "hf");
        std::string said = works(shell, "13_bert fill 'Rosa won the _ kite.' --model hf");
        CHECK(says(said, "blank 1 "));
        CHECK(says(said, "rosa won the "));
        works(shell, "13_bert follows 'Rosa won.' 'the kite was red.' --model hf");
        write_lines(shell);  // a run of ours is known by its model, wherever it was copied to
        works(shell, quick_bert());
        works(shell,
              "mkdir copy; cp runs/13_bert/config.json runs/13_bert/vocab.txt runs/13_bert/model.safetensors copy");
        CHECK(works(shell, "13_bert fill 'Ada _ot.' --model copy") == works(shell, "13_bert fill 'Ada _ot.'"));
        SmallBert half("F16");
        half.use_old_names();
        half.write(shell, "half");
        CHECK(works(shell, "13_bert fill 'Rosa won the _ kite.' --model half") == said);
        SmallBert model_only;
        model_only.keep_model_only();
        model_only.write(shell, "only");
        refuses(shell, "13_bert fill 'the _' --model only", "saved without its head cls.predictions");
        refuses(shell, "13_bert follows the kite --model only", "saved without its head cls.seq_relationship");
        refuses(shell, "13_bert fill 'the the the the the the the the the the the _' --model hf",
                "has 14 tokens, the model reads at most 12");
    }

    TEST_CASE("bad input gets one line: blanks, characters, lengths, files, models" * with_programs()) {
        Shell shell;
        write_lines(shell);
        works(shell, quick_bert());
        refuses(shell, "13_bert fill 'no blank here'", "there is no blank in the text; write _ for each character");
        refuses(shell, "13_bert fill", "fill needs TEXT");
        refuses(shell, "13_bert follows 'Ada got.'", "follows needs FIRST SECOND");
        refuses(shell, "13_bert fill _ --shw attention", "unknown option --shw; did you mean --show?");
        refuses(shell, "13_bert follows a b --foo", "unknown option --foo");
        refuses(shell, "13_bert fill '-_'", "fill needs TEXT [SECOND]; one that begins with - stands behind --");
        refuses(shell, "13_bert fill -- '-_'", "does not know: '-' (U+002D) at position 1");
        refuses(shell, "13_bert follows 'Ada got.' ''", "the second text is empty");
        refuses(shell, "13_bert fill '_' b c", "unexpected 'c'");
        refuses(shell, "13_bert fill 'Ad\u00e9 _'", "does not know: '\u00e9' (U+00E9)");
        refuses(shell, "13_bert fill $'\\xff_'", "not UTF-8");
        refuses(shell, "13_bert fill \"$(printf 'a%.0s' {1..70})_\"", "has 73 tokens, the model reads at most 64");
        refuses(shell, "printf 'A _.\\nA\\351_\\n' | 13_bert fill - >/dev/null", "line 2: the text is not UTF-8");
        refuses(shell, "13_bert fill - < .", "cannot read standard input: Is a directory");
        for (const char* file : {"--svg runs/13_bert/model.safetensors", "--hidden runs/../runs/13_bert/config.json"})
            refuses(shell, std::string("13_bert fill A_ >/dev/null ") + file, "belongs to the run in runs/13_bert");
        refuses(shell, "13_bert fill A_ --model runs/13_bert/model.safetensors",
                "it is a file; give the directory of a run");
        CHECK(works(shell, "printf 'whole\\nAda _ot.\\n' | 13_bert fill -") ==
              works(shell, "echo whole; 13_bert fill 'Ada _ot.'"));
        CHECK(
            says(works(shell, "13_bert --data lines --block-size 12 --steps 0 --eval-batches 1 --n-embd 4 --out short"),
                 " pairs lose their ends, as they are longer than --block-size 12; "));
        CHECK(works(shell, "printf 'Ada g_t.\\n\\nAda _ot.\\n' | 13_bert fill - 'Ada w_n.'") ==
              works(shell, "13_bert fill 'Ada g_t.' 'Ada w_n.'; echo; 13_bert fill 'Ada _ot.' 'Ada w_n.'"));
        refuses(shell, "13_bert fill _ --model nowhere", "there is no model in nowhere");
        refuses(shell, "13_bert sample", "unknown command 'sample'; there is train (the default), fill and follows");
        refuses(shell, "13_bert --prompt A", "has no --prompt");
        refuses(shell, "13_bert fill _ --show surprise", "'surprise' is not attention");
        refuses(shell, "13_bert --positions sideways", "'sideways' is not absolute or relative_key");
        refuses(shell, "13_bert --n-embd 30", "--n-embd 30 is not a multiple of --n-head 4");
        refuses(shell, "13_bert --block-size 4", "--block-size 4 has no room for [CLS] a [SEP] b [SEP]; give 8");
        works(shell, "rm -r short; printf 'one line' > short; : > empty; printf 'a\\n\\nb\\n\\nc\\n' > apart");
        for (const char* file : {"short", "empty", "apart"})
            refuses(shell, std::string("13_bert --data ") + file, "has only 0 lines that follow another one");
        refuses(shell, "13_bert --data apart", "an empty line ends a text");
        refuses(shell, "13_bert --data nowhere", "nowhere");
        works(shell, "10_gpt --data lines --steps 0 --eval-batches 1 --batch-size 1 --block-size 8 --tokens 0");
        refuses(shell, "13_bert fill _ --model runs/10_gpt", "was saved by 10_gpt");
        refuses(shell, "10_gpt sample --model runs/13_bert", "was saved by 13_bert");
        works(shell, "cp -r runs/13_bert cut; truncate -s -4 cut/model.safetensors");
        refuses(shell, "13_bert fill _ --model cut", "is damaged");
    }
}
