// Runs that end before their time: interrupted, killed, and resumed as if nothing had happened.
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

int steps_of(const Shell& shell, const std::string& run) {
    return nlohmann::json::parse(shell.read(run + "/run.json")).at("steps").get<int>();
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
        std::string line = quick("03_head", Shell::sanitized() ? 600 : 6000) + " --eval-interval 6000";
        std::string said = works(shell, "script -qec '" + line + "' /dev/null");
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
            auto whole = columns(shell.read("whole/metrics.csv")), parts = columns(shell.read("parts/metrics.csv"));
            for (size_t i = 0, j = 0; i < whole[0].size(); ++i, ++j) {
                if (j < parts[0].size() && parts[0][j] != whole[0][i]) ++j;  // the evaluation that Ctrl-C asked for
                REQUIRE(j < parts[0].size());
                for (size_t column : {0, 1, 2}) CHECK(whole[column][i] == parts[column][j]);
            }
        };
        for (const std::string& stage : trained_stages) {
            if (stage == "10_gpt") continue;
            CAPTURE(stage);
            works(shell, quick(stage, 12) + " --out whole; " + quick(stage, 6) + " --out parts");
            CHECK(says(works(shell, stage + " --resume --out parts --steps 12"), "resumed at step 6\n"));
            same();
            CHECK(tensors(shell, "whole/model.safetensors") == tensors(shell, "parts/model.safetensors"));
            works(shell, "rm -r whole parts");
        }
        // The learning rate of 10 depends on how many steps are planned, so it is stopped on its way.
        int steps = Shell::sanitized() ? 48 : 800;
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
        refuses(shell, line + " --n-embd 100", "--n-embd is 100, it was 96");
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
        for (int moment = 0; moment < (Shell::sanitized() ? 5 : 50); ++moment) {
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
