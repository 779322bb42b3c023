// Training on several ranks: what they learn, and what happens when one of them fails.
#include <cmath>

#include "tests/shell.h"

using namespace babygpt;

namespace {

std::string mpirun(int ranks, const std::string& line) {
    return "mpirun --allow-run-as-root --oversubscribe -n " + std::to_string(ranks) + " " + line;
}

std::string some_gpt(int steps) {
    return "10_gpt --data text --tokens 20 --batch-size 7 --block-size 8 --n-embd 16 --n-head 2 --n-layer 2 --dropout "
           "0.1 "
           "--eval-interval 10 --eval-batches 3 --threads 1 --steps " +
           std::to_string(steps);
}

// Both columns of losses lie near each other; returns the larger distance.
double distance(const Shell& shell, const std::string& run, const std::string& other) {
    auto a = columns(shell.read(run + "/metrics.csv")), b = columns(shell.read(other + "/metrics.csv"));
    REQUIRE(a.size() == 5);
    REQUIRE(a[0] == b[0]);
    double most = 0;
    for (size_t column : {1, 2})
        for (size_t row = 1; row < a[column].size(); ++row)
            most = std::max(most, std::abs(std::stod(a[column][row]) - std::stod(b[column][row])));
    return most;
}

void check_same(const Shell& shell, const std::string& run, const std::string& other) {
    for (const char* file : {"/resume.safetensors", "/model.safetensors"})
        CHECK(tensors(shell, run + file) == tensors(shell, other + file));
    CHECK(shell.read(run + "/samples.txt") == shell.read(other + "/samples.txt"));
}

// The ranks' own lines on standard error, without mpirun's.
std::string said_by_ranks(const Result& result) {
    std::istringstream lines(result.err);
    std::string said;
    for (std::string line; std::getline(lines, line);)
        if (says(line, ", rank ")) said += line + "\n";
    return said;
}

// Waits until a command succeeds, or the process in $run has ended.
std::string until(const std::string& command) {
    return "while ! " + command + " 2>/dev/null && kill -0 $run; do sleep 0.02; done; ";
}

const std::string endless = some_gpt(10'000'000) + " --eval-interval 1000000 --save-interval 1000000 --out run";
const std::string saved = "[ -e run/resume.safetensors ]";

std::string rank_of(int number) {  // the process that mpirun started as this rank, of the run in this directory
    return "$(for p in $(pgrep -x 10_gpt); do [ \"$(readlink /proc/$p/cwd)\" = \"$PWD\" ] && "
           "tr '\\0' '\\n' </proc/$p/environ | grep -qx OMPI_COMM_WORLD_RANK=" +
           std::to_string(number) + " && echo $p; done)";
}

}  // namespace

TEST_SUITE("ranks") {
    TEST_CASE("ranks: what they say to each other") {
        Shell shell;
        for (int ranks : {2, 3})
            for (const std::string what : {"talk", "gradients"}) works(shell, mpirun(ranks, "probe " + what));
        CHECK(says(works(shell, mpirun(3, "10_gpt --help | grep -c '^Usage'")), "1\n"));
    }

    TEST_CASE("ranks: 1, 2 and 3 of them lose the same over 50 steps, and the same bytes every time") {
        Shell shell;
        write_small_text(shell);
        works(shell, "sed 's/[.] /.\\n/g' text >lines; corpus write pairs --count 200 >pairs");
        const std::string bert =
            " --n-embd 16 --n-head 2 --n-layer 1 --eval-interval 25 --eval-batches 3 --threads 1 --steps 50";
        for (const std::string& line :
             {some_gpt(50),
              // several chunks for each of two threads: a gradient is whole in the last of them only
              some_gpt(50) + " --batch-size 53 --block-size 128 --eval-interval 25 --threads 2",
              "13_bert --data lines --batch-size 5 --dropout 0.1" + bert,
              "14_translate --data pairs --batch-size 4" + bert}) {
            CAPTURE(line);
            works(shell, line + " --out one");
            for (int ranks : {2, 3}) {
                CAPTURE(ranks);
                works(shell, mpirun(ranks, line + " --out many"));
                double apart = distance(shell, "one", "many");
                CHECK(apart < 1e-4);
                works(shell, mpirun(ranks, line + " --out again"));
                check_same(shell, "many", "again");
                works(shell, "rm -r many again");
            }
            works(shell, "rm -r one");
        }
    }

    TEST_CASE("ranks: the stage in the open learns what 01 learns") {
        Shell shell;
        write_small_text(shell);
        std::string options = quick("", 50) + " --batch-size 5 --eval-interval 10 --out ";
        works(shell, "01_bigram" + options + "one");
        for (int ranks : {2, 3}) {
            std::string said = works(shell, mpirun(ranks, "17_machines" + options + "many"));
            CHECK(says(said, "ranks   " + std::to_string(ranks)));
            CHECK(distance(shell, "one", "many") < 1e-4);
            works(shell, "rm -r many");
        }
        works(shell, mpirun(2, "01_bigram" + options + "both"));  // it does not share: every rank does all of it
        check_same(shell, "one", "both");
    }

    TEST_CASE("ranks: more of them than rows, and threads that share the cores") {
        Shell shell;
        write_small_text(shell);
        works(shell, some_gpt(10) + " --batch-size 2 --out one");
        std::string said = works(shell, mpirun(3, some_gpt(10) + " --batch-size 2 --threads 0 --out many"));
        CHECK(distance(shell, "one", "many") < 1e-4);
        int each = std::max(1, std::stoi(works(shell, "nproc")) / 3);
        CHECK(says(said, "ranks   3, threads of each: " + std::to_string(each) + "\n"));
    }

    TEST_CASE("ranks: a run goes on with another number of them") {
        Shell shell;
        write_small_text(shell);
        works(shell, some_gpt(50) + " --decay 0 --out one; " + mpirun(2, some_gpt(20) + " --decay 0 --out many"));
        std::string said = works(shell, mpirun(3, "10_gpt --resume --steps 30 --out many"));
        CHECK(says(said, "the ranks were 2 and are now 3"));
        CHECK(says(said, "resumed at step 20"));
        works(shell, "10_gpt --resume --steps 50 --out many");
        CHECK(distance(shell, "one", "many") < 1e-4);
        works(shell, mpirun(2, some_gpt(50) + " --decay 0 --out whole"));
        works(shell, mpirun(2, some_gpt(20) + " --decay 0 --out parts"));
        CHECK(!says(works(shell, mpirun(2, "10_gpt --resume --steps 50 --out parts")), "the ranks were"));
        check_same(shell, "whole", "parts");
    }

    TEST_CASE("ranks: those that disagree are refused at the start, and the difference is named") {
        Shell shell;
        write_small_text(shell);
        works(shell,
              "mkdir a b; cp text a; cp text b; printf ! >>b/text; cp $(command -v 10_gpt) other_gpt; printf x "
              ">>other_gpt");
        auto refused = [&](const std::string& line, const std::string& words) {
            Result result = shell(line);
            INFO(result.err);
            CHECK(result.code == 2);
            CHECK(is_one_line(said_by_ranks(result)));
            CHECK(says(said_by_ranks(result), words));
            CHECK(!shell.has("run"));
        };
        std::string gpt = some_gpt(5) + " --out $PWD/run", before = "mpirun --allow-run-as-root --oversubscribe ";
        refused(before + "-n 1 " + gpt + " : -n 1 " + gpt + " --seed 2",
                "the ranks disagree: --seed is 1 on rank 0 and 2 on rank 1");
        refused(before + "-n 1 " + gpt + " : -n 1 " + gpt + " --resume",
                "--resume is false on rank 0 and true on rank 1");
        refused(before + "-n 2 --wdir a " + gpt + " : -n 1 --wdir b " + gpt,
                "the text text is not the same on rank 0 and on rank 2");
        refused(before + "-n 1 " + gpt + " : -n 1 ./other_gpt " + gpt.substr(7),
                "rank 1 runs another 10_gpt than rank 0");
        refused(mpirun(2, gpt + " --n-head 3"), "--n-embd 16 is not a multiple of --n-head 3");
        refused(mpirun(2, "10_gpt --resume --out run"), "there is no run to resume in run");
    }

    TEST_CASE("ranks: weights that differ are found") {
        Shell shell;
        Result result = shell(mpirun(3, "probe weights"));
        CHECK(result.code == 2);
        CHECK(says(said_by_ranks(result), "at step 200 the weights of rank 1 are no longer those of rank 0"));
    }

    TEST_CASE("ranks: Ctrl-C and SIGTERM on mpirun end a run, saved at the step it says") {
        Shell shell;
        write_small_text(shell);
        for (const std::string signal : {"INT", "TERM"}) {
            CAPTURE(signal);
            Result result = shell(mpirun(2, endless) + " >log & run=$!; " + until(saved) + "sleep 0.3; kill -" +
                                  signal + " $run; wait $run; cat log");
            INFO(result.err);
            CHECK(said_by_ranks(result).empty());
            size_t at = result.out.find("stopped by SIGTERM at step ");
            REQUIRE_MESSAGE(at != result.out.npos, result.out);
            int step = std::atoi(result.out.c_str() + at + 27);
            CHECK(step > 0);
            std::string steps = std::to_string(step);
            CHECK(says(works(shell, mpirun(2, "10_gpt --resume --out run --steps " + std::to_string(step + 2))),
                       "resumed at step " + steps + "\n"));
            works(shell, "rm -r run");
        }
    }

    TEST_CASE("ranks: a killed one ends the others within seconds, and nothing is lost but with rank 0") {
        Shell shell;
        write_small_text(shell);
        for (int killed : {0, 1, 2}) {
            CAPTURE(killed);
            Result result = shell(mpirun(3, endless) + " >log & run=$!; " + until(saved) + "sleep 0.5; kill -KILL " +
                                  rank_of(killed) +
                                  "; begun=$SECONDS; wait $run; echo $((SECONDS - begun)); "
                                  "pgrep -x 10_gpt | while read p; do readlink /proc/$p/cwd; done | grep -cx \"$PWD\"");
            INFO(result.err);
            CHECK(std::atoi(result.out.c_str()) <= 5);
            CHECK(says(result.out, "\n0\n"));  // none is left
            std::string said = said_by_ranks(result);
            CHECK(is_one_line(said));
            CHECK(says(said, killed ? "another rank has died" : "rank 0 has died"));
            size_t at = said.find("--resume goes on from step ");
            REQUIRE(at != said.npos);
            int step = std::atoi(said.c_str() + at + 27);
            CHECK((killed ? step > 0 : step == 0));
            CHECK(says(works(shell, mpirun(2, "10_gpt --resume --out run --steps " + std::to_string(step + 2))),
                       "resumed at step " + std::to_string(step) + "\n"));
            works(shell, "rm -r run");
        }
    }

    TEST_CASE("ranks: rank 0's full disk ends all") {
        Shell shell;
        write_small_text(shell);
        works(shell, mpirun(2, some_gpt(10) + " --out run"));
        auto before = shell.files("run");
        works(shell, "ln -s /dev/full run/resume.safetensors.new");
        Result result = shell(mpirun(2, "10_gpt --resume --out run --steps 12"));
        INFO(result.err);
        CHECK(result.code == 2);
        CHECK(is_one_line(said_by_ranks(result)));
        CHECK(says(said_by_ranks(result), "cannot write run/resume.safetensors: No space left on device"));
        CHECK(shell.files("run")["resume.safetensors"] == before["resume.safetensors"]);
        works(shell, mpirun(2, "10_gpt --resume --out run --steps 12"));
    }
}
