// Runs that end before their time: interrupted, killed, and resumed as if nothing had happened.
#include <nlohmann/json.hpp>

#include "tests/shell.h"

using namespace babygpt;

namespace {

// Starts a run in the background, waits until it has saved itself, and a moment longer, and sends it a signal.
Result signalled(const Shell& shell, const std::string& line, const std::string& run, const char* signal,
                 int after_ms) {
    char moment[16];
    std::snprintf(moment, sizeof moment, "%.3f", after_ms / 1000.0);
    std::string saved = "[ -e " + run + "/resume.safetensors ]";
    return shell(line + " --out " + run + " & while ! " + saved + " && kill -0 $!; do sleep 0.01; done; sleep " +
                 moment + "; kill -" + signal + " $!; wait $!");
}

nlohmann::json summary(const Shell& shell, const std::string& run) {
    return nlohmann::json::parse(shell.read(run + "/run.json"));
}
int steps_of(const Shell& shell, const std::string& run) { return summary(shell, run).at("steps").get<int>(); }

void check_whole(const Shell& shell, const std::string& run) {
    for (const char* file : {"model.safetensors", "resume.safetensors", "metrics.csv", "run.json", "samples.txt"})
        CHECK_MESSAGE(shell.has(run + "/" + file), file);
}

// Waits until a command succeeds, or the process in $run has ended.
std::string until(const std::string& command) {
    return "while ! " + command + " 2>/dev/null && kill -0 $run; do sleep 0.01; done; ";
}

}  // namespace

TEST_SUITE("command line") {
    TEST_CASE("Ctrl-C ends a run at the next step: evaluated, sampled, files written" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"01_bigram", "03_head", "10_gpt"}) {
            CAPTURE(stage);
            Result result = signalled(shell, quick(stage, 10'000'000) + " --eval-interval 1000000", "run", "INT", 200);
            CHECK_MESSAGE(result.code == 0, result.err);
            int step = steps_of(shell, "run");
            CHECK(says(result.out, "stopped by Ctrl-C at step " + std::to_string(step) + "; --resume goes on"));
            CHECK(columns(shell.read("run/metrics.csv"))[0].back() == std::to_string(step));
            CHECK(shell.read("run/samples.txt").size() == 21);
            works(shell, stage + " sample --model run --tokens 5");
            works(shell, "rm -r run");
        }
    }

    TEST_CASE("SIGTERM and SIGHUP end a run as Ctrl-C does; under nohup SIGHUP does not" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        std::string line = quick("03_head", 10'000'000) + " --eval-interval 1000000";
        for (const std::string signal : {"TERM", "HUP"}) {
            CAPTURE(signal);
            Result result = signalled(shell, line, "run", signal.c_str(), 100);
            CHECK_MESSAGE(result.code == 0, result.err);
            check_whole(shell, "run");
            int step = steps_of(shell, "run");
            CHECK(says(result.out, "stopped by SIG" + signal + " at step " + std::to_string(step) + "; --resume"));
            CHECK(says(works(shell, "03_head --resume --out run --steps " + std::to_string(step + 2)),
                       "resumed at step " + std::to_string(step)));
            works(shell, "rm -r run");
        }
        Result twice = shell(line + " --out run & run=$!; " + until("[ -e run/resume.safetensors ]") +
                             "kill -TERM $run; kill -TERM $run; kill -HUP $run; kill -HUP $run; wait $run");
        CHECK(twice.code == 0);  // timeout sends its signal twice, a closed terminal may
        check_whole(shell, "run");
        std::string nohup = "trap '' HUP; " + line + " --out deaf & run=$!; " +
                            until("[ -e deaf/resume.safetensors ]") + "kill -HUP $run; sleep 0.2; kill -INT $run; " +
                            "wait $run";
        CHECK(says(works(shell, nohup), "stopped by Ctrl-C"));
    }

    TEST_CASE("a run whose reader went away goes on, saves everything and then says so" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"01_bigram", "03_head"}) {
            for (const std::string signal : {"INT", "TERM"}) {  // Ctrl-C ends a tee before the run has saved
                CAPTURE(stage + " " + signal);
                Result result = shell("mkfifo pipe; head -n 1 <pipe >line & reader=$!; " + quick(stage, 10'000'000) +
                                      " --eval-interval 1000000 --out run >pipe & run=$!; wait $reader; " +
                                      until("[ -e run/resume.safetensors ]") + "kill -" + signal + " $run; wait $run");
                CHECK(result.code == 2);
                CHECK(is_one_line(result.err));
                CHECK(says(result.err, stage + ": cannot write to standard output: Broken pipe"));
                check_whole(shell, "run");
                int step = steps_of(shell, "run");
                CHECK(step > 0);
                works(shell, stage + " --resume --out run --steps " + std::to_string(step + 2));
                works(shell, "rm -r run pipe");
            }
        }
        Result full = shell(quick("03_head", 20) + " --out run >/dev/full");
        CHECK(full.code == 2);
        CHECK(says(full.err, "cannot write to standard output: No space left on device"));
        CHECK(is_one_line(full.err));
        check_whole(shell, "run");
        CHECK(steps_of(shell, "run") == 20);
    }

    TEST_CASE("a resumed run keeps others out of its directory from the start" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        std::string line = quick("03_head", 10) + " --eval-interval 1000000 --out run";
        works(shell, line);
        for (const std::string& second : {line, std::string("03_head --resume --out run --steps 20")}) {
            Result result =
                shell("rm -f log; 03_head --resume --out run --steps 10000000 >log & run=$!; " +
                      until("grep -q resumed log") + second + "; code=$?; kill -INT $run; wait $run; exit $code");
            CHECK(result.code == 2);
            CHECK(is_one_line(result.err));
            CHECK(says(result.err, "another run is writing to run"));
            CHECK(!shell.has("run.1"));
            check_whole(shell, "run");
        }
    }

    TEST_CASE("runs that begin at the same moment never share a directory, and nothing is lost" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (int round = 0; round < 8; ++round) {
            works(shell, quick("02_position", 1) + " --seed 9 --out run");
            Result result = shell("for seed in 1 2 3; do (" + quick("02_position", 40) +
                                  " --threads 1 --out run --seed $seed && echo done >&3) 3>&1 >/dev/null & done; wait");
            CAPTURE(result.err);
            std::istringstream lines(result.err);
            for (std::string said; std::getline(lines, said);) CHECK(says(said, "another run is writing to run"));
            long finished = std::count(result.out.begin(), result.out.end(), '\n'), kept = 0;
            CHECK(finished >= 1);
            for (const std::string run : {"run", "run.1", "run.2", "run.3"}) {
                if (!shell.has(run + "/run.json")) continue;
                ++kept;
                std::string seed = "\\\"seed\\\":" + summary(shell, run)["options"]["seed"].dump();
                CHECK(says(shell.read(run + "/model.safetensors"), seed));
                CHECK(says(shell.read(run + "/resume.safetensors"), seed));
            }
            CHECK(kept == finished + 1);
            works(shell, "rm -r run*");
        }
    }

    TEST_CASE("two runs do not write to one directory at a time" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const char* second : {"", " --resume"}) {
            Result result = shell(quick("03_head", 10'000'000) +
                                  " --out run >log & while ! [ -e run/resume.safetensors ] && "
                                  "kill -0 $!; do sleep 0.01; done; " +
                                  quick("03_head", 10'000'000) + " --out run" + second +
                                  "; code=$?; kill -INT $!; wait $!; exit $code");
            CHECK(result.code == 2);
            CHECK(is_one_line(result.err));
            CHECK(says(result.err, "another run is writing to run"));
            CHECK(shell.has("run/run.json"));
            CHECK(!shell.has("run.1"));
            works(shell, "rm -r run");
        }
    }

    TEST_CASE("a terminal gets a live line, which is wiped in the end" * with_programs()) {
        Shell shell;
        REQUIRE_MESSAGE(shell("command -v script").code == 0, "script is missing; it is in Debian's bsdutils");
        write_small_text(shell);
        std::string line = "echo $$ >run_id; exec " + quick("03_head", 10'000'000) + " --eval-interval 1000000";
        std::string said =
            works(shell, "script -qefc '" + line + "' log >shown & run=$!; " + until("grep -q \" s left\" log") +
                             "kill -INT $(cat run_id); wait $run; cat log");
        size_t live = said.rfind(" s left");
        REQUIRE(live != said.npos);
        CHECK(said.find("\r\033[K", live) != said.npos);
        CHECK(said.rfind("\033") < said.rfind("best "));
    }

    TEST_CASE("a run that is stopped and resumed ends with the same bytes as one that is not" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        auto same = [&] {
            CHECK(tensors(shell, "whole/resume.safetensors") == tensors(shell, "parts/resume.safetensors"));
            CHECK(tensors(shell, "whole/model.safetensors") == tensors(shell, "parts/model.safetensors"));
            CHECK(shell.read("whole/samples.txt") == shell.read("parts/samples.txt"));
            CHECK(summary(shell, "whole")["best"] == summary(shell, "parts")["best"]);
            CHECK(summary(shell, "whole")["final"] == summary(shell, "parts")["final"]);
            auto whole = columns(shell.read("whole/metrics.csv")), parts = columns(shell.read("parts/metrics.csv"));
            for (size_t column : {0, 1, 2}) CHECK(whole[column] == parts[column]);
        };
        for (const std::string& stage : several_stages) {
            if (stage == "00_counts" || stage == "10_gpt") continue;
            CAPTURE(stage);
            works(shell, quick(stage, 12) + " --out whole; " + quick(stage, 6) + " --out parts");
            CHECK(says(works(shell, stage + " --resume --out parts --steps 12"), "resumed at step 6\n"));
            same();
            works(shell, "rm -r whole parts");
        }
        // The learning rate of 10 depends on how many steps are planned, so it is stopped on its way.
        int steps = sanitized ? 32 : 800;
        std::string line =
            quick("10_gpt", steps) + " --eval-interval 300 --save-interval " + std::to_string(steps / 16);
        works(shell, line + " --out whole");
        for (int i = 0; i < 2; ++i) {
            signalled(shell, line, "parts", i ? "INT" : "KILL", 100 + std::rand() % 300);
            std::string said = works(shell, "10_gpt --resume --out parts");
            INFO(said);
            same();
            works(shell, "rm -r parts");
        }
    }

    TEST_CASE("--resume keeps the settings of the sample and of saving, unless they are said again" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        std::string settings = " --prompt The --temperature 1.5 --tokens 70 --top-k 6 --top-p 0.8 --save-interval 3";
        works(shell,
              quick("03_head", 8) + settings + " --out whole; " + quick("03_head", 4) + settings + " --out parts");
        works(shell, "03_head --resume --out parts --steps 8");
        CHECK(shell.read("parts/samples.txt").size() == 3 + 70 + 1);
        CHECK(shell.read("parts/samples.txt") == shell.read("whole/samples.txt"));
        CHECK(says(shell.read("parts/resume.safetensors"), "\\\"save_interval\\\":3"));
        works(shell, "03_head --resume --out parts --prompt A --tokens 5");
        CHECK(shell.read("parts/samples.txt").size() == 1 + 5 + 1);
        works(shell, "03_head --resume --out parts");
        CHECK(shell.read("parts/samples.txt").starts_with("A"));
    }

    TEST_CASE("what an interruption finds best is kept, and given up again by --resume" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        std::string line = quick("03_head", 10'000'000) + " --eval-interval 1000000 --learning-rate 0.0001";
        CHECK(signalled(shell, line, "run", "INT", 200).code == 0);
        auto best_step = [&] { return nlohmann::json::parse(shell.read("run/run.json"))["best"]["step"].get<int>(); };
        int step = steps_of(shell, "run");
        CHECK(best_step() == step);  // learnt slowly, so the last is the best: it is not thrown away
        std::string of_interruption = tensors(shell, "run/model.safetensors");
        works(shell, quick("03_head", 0) + " --learning-rate 0.0001 --out start");  // the one planned before
        CHECK(of_interruption != tensors(shell, "start/model.safetensors"));
        works(shell, "03_head --resume --out run --learning-rate 0.0001 --steps " + std::to_string(step));
        CHECK(best_step() == step);  // the same step, now planned as the last one
        CHECK(tensors(shell, "run/model.safetensors") == of_interruption);
        works(shell, "rm -r run");
        CHECK(signalled(shell, line, "run", "INT", 200).code == 0);
        shell("03_head --resume --out run > log & run=$!; " + until("grep -q resumed log") + "kill -KILL $run");
        CHECK(tensors(shell, "run/model.safetensors") == tensors(shell, "start/model.safetensors"));
    }

    TEST_CASE("what a run has measured stays as it was when it is resumed" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("03_head", 6) + " --out run");
        std::string before = shell.read("run/metrics.csv");
        works(shell, "03_head --resume --out run");
        CHECK(shell.read("run/metrics.csv") == before);
        std::string said = works(shell, "03_head --resume --out run --steps 8");
        CHECK(shell.read("run/metrics.csv").starts_with(before));
        auto table = columns(shell.read("run/metrics.csv"));
        CHECK(table[0] == Cells{"step", "0", "2", "4", "6", "8"});
        CHECK(std::stod(table[3].back()) > 0);
        CHECK(std::stod(table[4].back()) > std::stod(table[4][4]));
        CHECK(says(said, "\n       6 "));  // where it goes on
    }

    TEST_CASE("a run that is not there, or not whole, is named before anything is trained" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        refuses(shell, "03_head --resume --out nowhere", "there is no run to resume in nowhere");
        works(shell, quick("03_head", 4) + " --out run; " + quick("03_head", 4) + " --n-embd 8 --out other");
        std::string line = "03_head --resume --steps 10000000 --out run", model = shell.read("run/model.safetensors");
        shell.write("run/model.safetensors", model.substr(0, model.size() / 2));
        refuses(shell, line, "run/model.safetensors is damaged");
        works(shell, "cp other/model.safetensors run");
        refuses(shell, line, "run/model.safetensors");
        works(shell, "rm run/model.safetensors");
        refuses(shell, line, "cannot resume run: its best model, run/model.safetensors, is missing");
        shell.write("run/model.safetensors", model);
        const std::string sound = shell.read("run/resume.safetensors");
        auto damaged = [&](const std::string& what, const std::string& instead, const char* words = " is damaged") {
            std::string bytes = sound;
            size_t at = bytes.find(what);
            REQUIRE_MESSAGE(at != bytes.npos, what);
            bytes.replace(at, what.size(), instead);
            uint64_t length;
            std::copy_n(bytes.data(), 8, reinterpret_cast<char*>(&length));
            length += instead.size() - what.size();
            std::copy_n(reinterpret_cast<const char*>(&length), 8, bytes.data());
            shell.write("run/resume.safetensors", bytes);
            refuses(shell, line, std::string("run/resume.safetensors") + words);
        };
        damaged("\\\"rows\\\":[[0,", "\\\"rows\\\":[[],[0,");
        damaged("\\\"rows\\\":[[0,", "\\\"rows\\\":[0,[0,");
        for (const char* step : {"-7", "1099511627776", "2.7", "\\\"four\\\""})
            damaged("\\\"step\\\":4,", "\\\"step\\\":" + std::string(step) + ",");
        damaged("\"mean.head.key.weight\"", "\"neither.head.key.weight\"", " has no tensor mean.head.key.weight");
        shell.write("run/resume.safetensors", sound);
        works(shell, "03_head --resume --steps 5 --out run");
    }

    TEST_CASE("--out with slashes at its end is printed with one" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"00_counts", "02_position"})
            CHECK(says(works(shell, quick(stage) + " --out " + stage + "//"), "\nfiles   " + stage + "/\n"));
    }

    TEST_CASE("a character of value zero in what a model writes cuts nothing off" * with_programs()) {
        Shell shell;
        std::string text;
        for (int i = 0; i < 300; ++i) text += i % 3 ? std::string("ab") : std::string("\0c", 2);
        shell.write("text", text);
        for (const std::string stage : {"00_counts", "01_bigram"}) {
            std::string said = works(shell, quick(stage) + " --out " + stage),
                        sample = shell.read(stage + "/samples.txt");
            CHECK(sample.size() == 21);
            CHECK(sample.find('\0') != sample.npos);
            CHECK(says(said, "\n" + sample));
            CHECK(summary(shell, stage)["sample"].get<std::string>() + "\n" == sample);
        }
    }

    TEST_CASE("a run that cannot go on exactly is not resumed, and the difference is named" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("10_gpt", 6) + " --dropout 0 --warmup 0 --learning-rate 0.003 --threads 2 --out run");
        shell.write("other", shell.read("text").substr(1));
        std::string line = "10_gpt --resume --out run";
        refuses(shell, line + " --batch-size 16", "cannot resume run: --batch-size is 16, it was 4");
        refuses(shell, line + " --seed 12345", "--seed is 12345, it was 1");
        refuses(shell, line + " --threads 1", "--threads is 1, it was 2");
        refuses(shell, line + " --dropout 0.25", "--dropout is 0.25, it was 0.0");
        refuses(shell, line + " --learning-rate 1e-4", "--learning-rate is 0.0001, it was 0.003");
        refuses(shell, line + " --n-embd 100", "--n-embd is 100, it was 32");
        refuses(shell, line + " --data other", "--data is \"other\", it was \"text\"");
        refuses(shell, line + " --steps 3", "it is at step 6 already, --steps is 3");
        refuses(shell, line + " --prompt \u00eb", "'\u00eb' (U+00EB) at position 1");
        works(shell, line + " --dropout 0 --warmup 0 --steps 8 --tokens 5");
        works(shell, "cp text same; printf ! >> text");
        refuses(shell, line + " --steps 9", "the text text has changed since");
        works(shell, "rm text");
        refuses(shell, line + " --steps 9", "cannot read text");
        works(shell,
              "mv same text; " + quick("02_position", 0) + " --out none; 02_position --resume --out none --steps 2");
        CHECK(steps_of(shell, "none") == 2);
        std::string whole = shell.read("run/resume.safetensors");
        shell.write("run/resume.safetensors", whole.substr(0, whole.size() / 2));
        refuses(shell, line, "run/resume.safetensors is damaged");
    }

    TEST_CASE("killed at any moment, a run's directory samples and resumes" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        std::string line = quick("05_feedforward", 1'000'000) + " --eval-interval 1 --save-interval 1";
        for (int moment = 0; moment < (sanitized ? 5 : 50); ++moment) {
            Result killed = signalled(shell, line, "run", "KILL", std::rand() % 150);
            INFO("moment ", moment, ": ", killed.err);
            CHECK(killed.code == 128 + 9);
            int step = std::stoi(columns(shell.read("run/metrics.csv"))[0].back());
            works(shell, "05_feedforward sample --model run --tokens 5");
            works(shell, "05_feedforward --resume --out run --tokens 5 --steps " + std::to_string(step + 2));
            CHECK(steps_of(shell, "run") == step + 2);
            works(shell, "rm -r run");
        }
    }
}
