// Stage 16 from the command line: memory is saved, and nothing else changes.
#include <nlohmann/json.hpp>

#include "common/train/checkpoint.h"
#include "tests/shell.h"

using namespace babygpt;

namespace {

const std::string small =
    "train --data lines --batch-size 4 --block-size 64 --n-embd 16 --n-head 2 --n-layer 3 --eval-interval 3 "
    "--eval-batches 1 --threads 2 ";
std::string train(const std::string& more, int steps = 6) {
    return "16_memory " + small + "--steps " + std::to_string(steps) + " " + more;
}

std::vector<Cells> losses(const Shell& shell, const std::string& run) {
    std::vector<Cells> table = columns(shell.read(run + "/metrics.csv"));
    REQUIRE(table.size() == 5);
    table.resize(3);  // what comes then depends on the clock
    return table;
}

using Words = std::vector<std::string>;

// The --checkpoint that a run goes on with, if it is not told otherwise.
int kept_checkpoint(const Shell& shell, const std::string& run) {
    auto state = nlohmann::json::parse(load_metadata(shell.path(run + "/resume.safetensors")).at("state"));
    return state.at("settings").at("checkpoint");
}

}  // namespace

TEST_SUITE("command line") {
    TEST_CASE("16_memory: --checkpoint trains to the same losses and the same weights" * with_programs()) {
        Shell shell;
        write_lines(shell);
        works(shell, train("--checkpoint 0 --out plain"));
        for (const std::string& k : sanitized ? Words{"2"} : Words{"1", "2", "3", "9"}) {
            CAPTURE(k);
            works(shell, train("--checkpoint " + k + " --out forgets_" + k));
            CHECK(losses(shell, "forgets_" + k) == losses(shell, "plain"));
            CHECK(tensors(shell, "forgets_" + k + "/model.safetensors") == tensors(shell, "plain/model.safetensors"));
        }
        for (const std::string& k : Words{"0", "2"}) {
            works(shell, "13_bert " + small + "--steps 6 --out bert --checkpoint " + k);
            CHECK(losses(shell, "bert") == losses(shell, "plain"));
        }
    }

    TEST_CASE("16_memory: a run that stopped ends with the same bytes, with the options it had or with others" *
              with_programs()) {
        Shell shell;
        write_lines(shell);
        const std::string on = "; 16_memory train --resume --steps 6 --out ";
        works(shell, train("--decay 0 --out whole"));
        works(shell, train("--decay 0 --out again", 3) + on + "again");
        works(shell, train("--decay 0 --checkpoint 2 --out other", 3) + on + "other --checkpoint 0");
        for (const std::string parts : {"again", "other"}) {
            CAPTURE(parts);
            CHECK(losses(shell, parts) == losses(shell, "whole"));
            for (const char* file : {"/model.safetensors", "/resume.safetensors"})
                CHECK(tensors(shell, parts + file) == tensors(shell, "whole" + std::string(file)));
        }
    }

    TEST_CASE("16_memory: --chunk trains, and the model fills blanks in texts of any length" * with_programs()) {
        Shell shell;
        write_lines(shell);
        works(shell, train("--chunk 16 --dropout 0 --out run"));
        works(shell, train("--dropout 0 --out whole"));
        std::vector<Cells> chunked = losses(shell, "run"), whole = losses(shell, "whole");
        for (size_t i = 1; i < whole[2].size(); ++i)
            CHECK(std::stod(chunked[2][i]) == doctest::Approx(std::stod(whole[2][i])).epsilon(1e-3));
        CHECK(says(works(shell, "16_memory fill 'Rosa won a ____ kite.' --model run"), "blank 1"));
        works(shell, "16_memory follows 'Rosa won a red kite.' 'It was red.' --model run --show attention");
    }

    TEST_CASE("16_memory: --help, and what cannot be used" * with_programs()) {
        Shell shell;
        std::string help = works(shell, "16_memory --help");
        for (const char* words : {"Usage: 16_memory [measure]", "16_memory train [OPTIONS]", "--checkpoint", "--chunk",
                                  "16_memory fill [OPTIONS] TEXT", "memory and time of a step"})
            CHECK_MESSAGE(says(help, words), words);
        refuses(shell, "16_memory --steps 5", "this stage's measure has no --steps");
        refuses(shell, "16_memory tell", "there is measure (the default), train, fill and follows");
        refuses(shell, "16_memory train --checkpoint -1", "'-1' is not a whole number from 0 to 1000");
        refuses(shell, "16_memory train --chunk many", "'many' is not a whole number");
        refuses(shell, "16_memory train --chunk 48", "--block-size 128 is not a multiple of --chunk 48");
        refuses(shell, "13_bert --chunk 16", "has no --chunk");
        refuses(shell, "15_prune train --chunk 16", "has no --chunk");
    }

    TEST_CASE("10_gpt, 12_relative: --checkpoint trains to the same losses and weights, and is kept for --resume" *
              with_programs()) {
        Shell shell;
        write_small_text(shell);
        for (const std::string stage : {"10_gpt", "12_relative"}) {
            std::string line = quick(stage, 4) + " --n-layer 5 --n-embd 16 --dropout 0.1 ";
            works(shell, line + "--out plain");
            for (const std::string& k : sanitized ? Words{"5"} : Words{"1", "2", "5"}) {
                works(shell, line + "--out forgets --checkpoint " + k);
                CHECK(losses(shell, "forgets") == losses(shell, "plain"));
                CHECK(tensors(shell, "forgets/model.safetensors") == tensors(shell, "plain/model.safetensors"));
            }
            works(shell, stage + " --resume --out plain --steps 8; " + stage + " --resume --out forgets --steps 8");
            CHECK(losses(shell, "forgets") == losses(shell, "plain"));
            CHECK(kept_checkpoint(shell, "plain") == 0);
            CHECK(kept_checkpoint(shell, "forgets") == 5);  // the last that it was trained with
        }
        refuses(shell, "10_gpt --chunk 4", "has no --chunk");
        refuses(shell, "05_feedforward --checkpoint 1", "has no --checkpoint");
    }

    // A sanitizer needs terabytes of address space, so no limit can be set on it.
    TEST_CASE("16_memory: within a limit that the plain way breaks, a deep model trains with --checkpoint" *
              doctest::skip(sizeof(real) == 8 || !Shell::ready() || sanitized)) {
        Shell shell;
        auto within_limit = [](const std::string& program, const std::string& more = "") {
            return "ulimit -v 400000; " + program +
                   " train --batch-size 8 --n-embd 64 --n-head 4 --n-layer 60 --steps 1 --eval-batches 1 --threads 1 "
                   "--out run " +
                   more;
        };
        for (const std::string program : {"16_memory", "13_bert"}) {
            Result plain = shell(within_limit(program, "--checkpoint 0"));
            CHECK(plain.code == 2);
            CHECK(says(plain.err, "not enough memory"));
            CHECK(plain.err.ends_with("choose smaller sizes, or --checkpoint 1\n"));
            works(shell, within_limit(program, "--checkpoint 1"));
        }
    }
}
