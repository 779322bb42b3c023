// Bad input as a user types it: one clear line on stderr, exit code 2, and every file as it was.
#include <algorithm>
#include <regex>

#include "tests/shell.h"

using namespace babygpt;

namespace {

// The numeric options that a command's --help lists.
std::vector<std::string> numeric_options(const Shell& shell, const std::string& command) {
    std::string help = works(shell, command + " --help");
    const std::regex option("(--[a-z-]+) (INT|UINT|FLOAT)=");
    std::vector<std::string> names;
    for (std::sregex_iterator found(help.begin(), help.end(), option), end; found != end; ++found)
        names.push_back((*found)[1]);
    CHECK(names.size() >= 5);
    return names;
}

// Tries each of the lines in one shell, as many as there are: each has to exit with 2 and say one line with its words.
struct Attempt {
    std::string line, words;
};
void refuses_all(const Shell& shell, const std::vector<Attempt>& attempts) {
    auto before = shell.files();
    std::string script;
    for (const Attempt& attempt : attempts) script += attempt.line + "; echo \"$? exit\" >&2\n";
    std::string said = shell(script).err;
    for (const Attempt& attempt : attempts) {
        size_t end = said.find(" exit\n");
        REQUIRE(end != said.npos);
        std::string message = said.substr(0, end + 6);
        said.erase(0, end + 6);
        INFO(attempt.line, " said: ", message);
        CHECK(says(message, attempt.words));
        CHECK(message.ends_with("\n2 exit\n"));
        CHECK(std::count(message.begin(), message.end(), '\n') == 2);
    }
    CHECK(shell.files() == before);
}

}  // namespace

TEST_SUITE("command line") {
    TEST_CASE("a word that means nothing is named, and what was meant is suggested" * with_programs()) {
        Shell shell;
        std::vector<Attempt> attempts;
        for (const std::string& stage : all_stages) {
            attempts.push_back({stage + " trian", stage + ": unknown command 'trian'; there is train (the default)"});
            attempts.push_back({stage + " --sede 3", "unknown option --sede; did you mean --seed?"});
            attempts.push_back({stage + " train --promt=x", "unknown option --promt; did you mean --prompt?"});
            attempts.push_back({stage + " sample --token 5", "unknown option --token; did you mean --tokens?"});
            attempts.push_back({stage + " --frobnicate", "unknown option --frobnicate; --help lists all"});
            attempts.push_back({stage + " --seed 5 7", "unexpected '7'"});
            attempts.push_back({stage + " train sample", "unexpected 'sample'"});
            attempts.push_back({stage + " -x", "unexpected '-x'"});
            attempts.push_back({stage + " --out", "--out needs a value"});
            attempts.push_back({stage + " sample --tokens", "--tokens needs a value"});
            attempts.push_back({stage + " --out --seed 3", "--out: '--seed' is not the name of a file or directory"});
            attempts.push_back({stage + " --data ''", "--data: '' is not the name"});
            attempts.push_back({stage + " --out=''", "--out: '' is not the name"});
        }
        attempts.push_back({"11_kvcache train", "unknown command 'train'; there is compare"});
        refuses_all(shell, attempts);
    }

    TEST_CASE("an option of another stage or command is known, and refused by its name" * with_programs()) {
        Shell shell;
        refuses_all(shell, {
                               {"00_counts --steps 5", "this stage's train has no --steps"},
                               {"00_counts --resume", "has no --resume"},
                               {"01_bigram --n-embd 8", "has no --n-embd"},
                               {"03_head --n-head 2", "has no --n-head"},
                               {"05_feedforward --n_layer 2", "has no --n-layer"},
                               {"08_layernorm --dropout 0.1", "has no --dropout"},
                               {"10_gpt train --model x", "this stage's train has no --model"},
                               {"10_gpt sample --steps 3", "this stage's sample has no --steps"},
                               {"10_gpt --show choices", "this stage's train has no --show"},
                               {"11_kvcache --steps 3", "this stage's compare has no --steps"},
                           });
    }

    TEST_CASE("every numeric option refuses what is no number of its range" * with_programs()) {
        Shell shell;
        std::vector<Attempt> attempts;
        auto attempt = [&](const std::string& command, const std::string& option, const std::string& value) {
            attempts.push_back({command + " " + option + " '" + value + "'", option + ": '" + value + "' is not a "});
        };
        for (const std::string& stage : several_stages)
            for (const std::string& option : numeric_options(shell, stage + " train")) {
                attempt(stage, option, "-1");
                attempt(stage, option, "many");
            }
        for (const std::string command : {"10_gpt train", "10_gpt sample"})
            for (const std::string& option : numeric_options(shell, command))
                for (const char* value : {"", " ", "nan", "inf", "-inf", "0x10", "5 ", "5x", "1,5", "1e99", "--seed",
                                          "123456789012345678901234567890", "é"})
                    attempt(command, option, value);
        for (const char* option : {"--batch-size", "--block-size", "--n-embd", "--n-head", "--n-layer", "--top-p",
                                   "--learning-rate", "--eval-interval", "--eval-batches", "--save-interval"})
            attempt("10_gpt", option, "0");
        attempt("10_gpt sample", "--count", "0");
        attempt("10_gpt sample", "--top-p", "1.01");
        attempt("10_gpt", "--dropout", "1");
        attempt("10_gpt", "--steps", "2.5");
        refuses_all(shell, attempts);
    }

    TEST_CASE("heads that cannot share n_embd equally are refused with a size that works" * with_programs()) {
        Shell shell;
        for (const char* stage : {"04_multihead", "07_residual", "10_gpt"})
            refuses(shell, std::string(stage) + " --n-embd 30 --n-head 4",
                    "--n-embd 30 is not a multiple of --n-head 4; each head takes an equal share, so try --n-embd 32");
    }

    TEST_CASE("a text that cannot be used is refused, and an earlier run stays as it is" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        shell.write("empty", "");
        shell.write("mark", "\xef\xbb\xbf");
        shell.write("one", std::string(5000, 'a'));
        shell.write("few", "to be or n");
        shell.write("short", shell.read("text").substr(0, 320));
        shell.write("latin1", "caf\xe9 au lait");
        shell.write("cut", "ab\xe4\xbd");
        std::filesystem::create_directory(shell.path("directory"));
        for (const std::string& stage : all_stages) works(shell, quick(stage, 1));
        std::vector<Attempt> attempts;
        for (const std::string& stage : all_stages) {
            attempts.push_back({stage + " --data nowhere", stage + ": cannot read nowhere: No such file"});
            attempts.push_back({stage + " --data text/book", "cannot read text/book: Not a directory"});
            attempts.push_back({stage + " --data directory", "directory is a directory"});
            attempts.push_back({stage + " --data /proc/self/mem", "cannot read /proc/self/mem: Input/output error"});
            attempts.push_back({stage + " --data empty", "empty is empty; give a text"});
            attempts.push_back({stage + " --data mark", "mark is empty"});
            attempts.push_back({stage + " --data one", "one has only one distinct character, 'a' (U+0061)"});
            attempts.push_back({stage + " --data few", "few has only 10 characters"});
            attempts.push_back({stage + " --data latin1", "latin1 is not UTF-8: byte 0xE9 at offset 3"});
            attempts.push_back({stage + " --data cut", "cut is not UTF-8: byte 0xE4 at offset 2"});
            attempts.push_back({stage + " --data -", "--data - is no file"});
            if (stage == "00_counts") continue;
            attempts.push_back({stage + " --data short --block-size 32",
                                "short is too short: its validation part (the last tenth) has 32 characters, and a "
                                "block of --block-size 32 needs 33"});
        }
        refuses_all(shell, attempts);
    }

    TEST_CASE("a prompt the model could not read is refused before training, not after" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string& stage : all_stages) works(shell, quick(stage, 1));
        std::vector<Attempt> attempts;
        std::string unknown =
            "the prompt has characters the model does not know: 'ë' (U+00EB) at position 3, U+0007 "
            "at position 4";
        for (const std::string& stage : all_stages) {
            std::string sample = stage + (stage == "00_counts" ? " sample --data text" : " sample");
            for (const std::string& command : {quick(stage), sample}) {
                attempts.push_back({command + " --prompt $'thë\\a'", unknown});
                attempts.push_back({command + " --prompt $'a\\xff'", "the prompt is not UTF-8: byte 0xFF at offset 1"});
            }
        }
        attempts.push_back({"echo ë | 03_head sample --prompt -", "'ë' (U+00EB) at position 1"});
        attempts.push_back({"11_kvcache sample --prompt ë", "'ë' (U+00EB) at position 1"});
        refuses_all(shell, attempts);
    }

    TEST_CASE("a directory that cannot take a run is refused, whatever is in it" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, "mkdir notes full; echo hello > notes/diary.txt; echo 1 > full/model.safetensors; echo > full/x");
        std::vector<Attempt> attempts;
        for (const char* stage : {"00_counts", "01_bigram", "02_position", "10_gpt"}) {
            attempts.push_back({quick(stage) + " --out text", "text is a file; name a directory"});
            attempts.push_back({quick(stage) + " --out text/run", "text is a file; name a directory"});
            attempts.push_back({quick(stage) + " --out notes", "--out notes holds other files (diary.txt)"});
            attempts.push_back({quick(stage) + " --out full/", "--out full holds other files (x)"});
            attempts.push_back({quick(stage) + " --out .", "--out . holds other files"});
            attempts.push_back({quick(stage) + " --out /proc/run", "cannot write to --out /proc/run"});
            attempts.push_back({quick(stage) + " --out /sys/run", "cannot write to --out /sys/run"});
        }
        refuses_all(shell, attempts);
    }

    TEST_CASE("a directory without a model, or with another stage's, is refused" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("02_position"));
        refuses(shell, "02_position sample --model nowhere", "there is no model in nowhere; train one first");
        refuses(shell, "03_head sample", "there is no model in runs/03_head");
        refuses(shell, "02_position sample --model text", "there is no model in text");
        refuses(shell, "03_head sample --model runs/02_position", "was saved by 02_position; use that program");
        refuses(shell, "11_kvcache --model runs/02_position", "was saved by 02_position");
        refuses(shell, "11_kvcache", "runs/10_gpt");
        refuses(shell, "03_head --resume", "runs/03_head/resume.safetensors");
        refuses(shell, "03_head --resume --out runs/02_position", "was saved by 02_position");
    }

    TEST_CASE("a damaged model is refused wherever the damage is, and never crashes" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("02_position", 1) + " --n-embd 4 --out run");
        const std::string whole = shell.read("run/model.safetensors");
        auto refused = [&](const std::string& bytes, const std::string& words) {
            shell.write("run/model.safetensors", bytes);
            refuses(shell, "02_position sample --model run --tokens 5", words);
        };
        refused("", "run/model.safetensors is damaged: 0 bytes are too few");
        refused(whole.substr(0, 7), "is damaged: 7 bytes are too few");
        for (size_t length : {size_t{8}, size_t{300}, whole.size() - 1}) refused(whole.substr(0, length), "is damaged");
        refused(whole + "x", "is damaged: 1 bytes at its end belong to no tensor");
        refused(std::string(8, '\xff') + whole.substr(8), "is damaged or no checkpoint: its header is said to be");
        refused(shell.read("text"), "is damaged or no checkpoint");
        refused(shell.read("run/resume.safetensors"), "has no tensor token_embedding.weight");
        shell.write("run/model.safetensors", whole);
        size_t header = whole.find("   ");
        for (size_t at = 0; at < header; at += 97) {  // a flipped bit may go unnoticed in a number or a name, no more
            std::string bytes = whole;
            bytes[at] = char(bytes[at] ^ 1);
            shell.write("run/model.safetensors", bytes);
            Result result = shell("02_position sample --model run --tokens 5");
            INFO("byte ", at, " flipped: ", result.err);
            bool refused_well = result.code == 2 && is_one_line(result.err);
            CHECK((refused_well || result.code == 0));
        }
    }

    TEST_CASE("memory that cannot be had is refused with how much was wanted, and nothing is lost" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, "printf 'abc\\n%.0s' {1..500000} > long");
        works(shell, quick("03_head", 1));
        refuses(shell, "03_head --data long --block-size 1 --n-embd 1000000", " wants 4000.");
        refuses(shell, "10_gpt --data long --block-size 1 --n-embd 1000000 --n-head 1", " wants 4000.");
        // Too much for a step, not for the model: it is found out before the earlier run is moved out of the way.
        refuses(shell, "03_head --data long --batch-size 1 --n-embd 1 --block-size 190000 --eval-batches 1",
                " wants 144.");
        if (sanitized) return;  // the address sanitizer has terabytes of address space mapped
        refuses(shell, "ulimit -v 1500000; 03_head --data text --n-embd 20000", "an array wants 1.6 GB");
        refuses(shell, "ulimit -v 800000; 02_position --data /dev/zero", "not enough memory");
    }

    TEST_CASE("a full disk ends a run with the reason, and the earlier run is still there" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"01_bigram", "05_feedforward", "10_gpt"}) {
            works(shell, quick(stage) + " --out run");
            auto before = shell.files("run");
            for (const char* limit : {"ulimit -f 4; ", "trap '' XFSZ; ulimit -f 4; "}) {
                Result result = shell(limit + quick(stage) + " --out run");
                INFO(stage, " said: ", result.err);
                CHECK(result.code == 2);
                CHECK(is_one_line(result.err));
                CHECK(says(result.err, "cannot write run/model.safetensors: File too large"));
                CHECK(shell.files("run.1") == before);
                CHECK(shell.files("run").size() == 1);  // metrics.csv, and no half of a file
                works(shell, "rm -r run; mv run.1 run");
            }
            Result result = shell("ulimit -f 4; " + quick(stage, 9) + " --out run --resume");
            CHECK(result.code == 2);
            CHECK(shell.read("run/model.safetensors") == before["model.safetensors"]);
            CHECK(shell.read("run/resume.safetensors") == before["resume.safetensors"]);
            works(shell, "rm -r run");
        }
        works(shell, quick("01_bigram"));
        for (const std::string command : {"01_bigram sample", "03_head --help >/dev/null; 00_counts --data text"})
            CHECK(shell(command + " >/dev/full").code == 2);
    }

    TEST_CASE("a loss that is no number any more ends the run with what to try" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"01_bigram", "02_position", "05_feedforward", "06_block", "08_layernorm"}) {
            Result result = shell(quick(stage, 500) + " --learning-rate 1000 --eval-interval 500 --out run");
            INFO(stage, " said: ", result.err);
            CHECK(result.code == 2);
            CHECK(is_one_line(result.err));
            CHECK(says(result.err, "the loss became "));
            CHECK(says(result.err, "the updates overshoot; try a lower --learning-rate than 1000"));
            works(shell, stage + " sample --model run --tokens 5");  // the last good model is there
            works(shell, "rm -r run");
        }
    }

    TEST_CASE("corpus: what it cannot use is refused" * with_programs()) {
        Shell shell;
        refuses(shell, "corpus", "corpus: ");
        refuses(shell, "corpus sing tales", "corpus: ");
        refuses(shell, "corpus write", "corpus: ");
        refuses(shell, "corpus write limericks", "limericks");
        refuses(shell, "corpus write tales verses", "corpus: ");
        for (const char* value : {"-1", "0", "many", "nan", "1e99", "123456789012345678901234567890", "''"})
            refuses(shell, std::string("corpus entropy tales --bytes ") + value, "--bytes");
        refuses(shell, "corpus write tales --seed -1", "--seed");
        refuses(shell, "corpus judge tales nowhere", "nowhere");
        refuses(shell, "corpus judge tales .", ". is a directory");
        Result full = shell("corpus write tales >/dev/full");
        CHECK(full.code != 0);
        CHECK(is_one_line(full.err));
        CHECK(says(works(shell, "corpus write verses --bytes 1000 | corpus judge verses -"), "100.0 %"));
        works(shell, "corpus --help");
    }

    TEST_CASE("corpus: pairs are written in two columns and judged line by line" * with_programs()) {
        Shell shell;
        std::string said = works(shell, "corpus write pairs --count 300 | tee pairs | corpus judge pairs -");
        CHECK(says(said, "exact             300 of      300  100.0 %"));
        CHECK(says(works(shell, "wc -l <pairs"), "300"));
        CHECK(works(shell, "corpus write pairs --count 300 --seed 2 >other; cmp -s pairs other || echo another") ==
              "another\n");
        shell.write("mixed",
                    "Zoe was proud.\t佐伊很自豪。\r\nZoe was proud.\t佐伊很高兴。\nZoe slept.\t\nZoe was shy.\t\n");
        said = works(shell, "corpus judge pairs mixed");
        CHECK(says(said, "in form             3 of        4   75.0 %"));
        CHECK(says(said, "exact               1 of        4   25.0 %"));
        shell.write("bad", "Zoe was proud.\t佐伊很自豪。\nZoe was proud.\n");
        refuses(shell, "corpus judge pairs bad", "corpus: line 2 of bad has no tab");
        refuses(shell, "printf 'a\\tb\\tc\\n' | corpus judge pairs -", "line 1 of standard input has 2 tabs");
        refuses(shell, "printf 'a\\tb\\377\\n' | corpus judge pairs -", "line 1 of standard input is not UTF-8");
        refuses(shell, "corpus judge pairs nowhere", "nowhere");
        refuses(shell, "corpus write pairs --bytes 1000", "give --count");
        refuses(shell, "corpus write tales --count 10", "give --bytes");
        for (const char* count : {"0", "-1", "x", "1000001"})
            refuses(shell, std::string("corpus write pairs --count ") + count, "--count");
        refuses(shell, "corpus entropy pairs", "pairs");
    }

    TEST_CASE("report: directories that hold no run are refused" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("00_counts") + "; " + quick("02_position"));
        works(shell, "mkdir runs/a runs/b runs/c; echo '{' > runs/a/run.json; echo 3 > runs/b/run.json");
        shell.write("runs/c/run.json", R"({"stage": 7, "options": {}})");
        refuses(shell, "report", "report: name the run directories");
        refuses(shell, "report nowhere", "nowhere/run.json");
        refuses(shell, "report text", "text/run.json");
        for (const char* directory : {"runs/a", "runs/b", "runs/c"})
            refuses(shell, std::string("report runs/00_counts ") + directory, std::string(directory) + "/run.json");
        CHECK(says(works(shell, "report runs/00_counts runs/02_position"), "02_position"));
        CHECK(says(shell.read("runs/losses.svg"), "</svg>"));
        works(shell, "mv runs elsewhere");
        CHECK(works(shell, "report elsewhere/00_counts/").ends_with("loss curves: elsewhere/losses.svg\n"));
        CHECK(works(shell, "cd elsewhere; report 00_counts").ends_with("loss curves: losses.svg\n"));
        works(shell, "rm elsewhere/losses.svg; mkdir elsewhere/losses.svg");
        refuses(shell, "report elsewhere/00_counts", "cannot write elsewhere/losses.svg");
    }
}
