// Snapshots of the weights at evaluations: which there are, what is in them, and that they are the same after --resume.
#include <nlohmann/json.hpp>

#include "tests/shell.h"

using namespace babygpt;

namespace {

// The steps of a run's snapshots, in order.
std::vector<int> snapshots(const Shell& shell, const std::string& run) {
    std::vector<int> steps;
    if (!shell.has(run + "/snapshots")) return steps;
    for (const auto& [name, bytes] : shell.files(run + "/snapshots")) steps.push_back(std::stoi(name));
    std::ranges::sort(steps);
    return steps;
}

std::string run_of(const std::string& out, int steps, const std::string& more = "") {
    return quick("03_head", steps) + " --eval-interval 10 --out " + out + " " + more;
}

}  // namespace

TEST_SUITE("command line") {
    TEST_CASE("snapshots: one at each evaluation, the best is the model; --snapshots 0 keeps none" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, run_of("run", 35));
        CHECK(snapshots(shell, "run") == std::vector{0, 10, 20, 30, 35});
        int best = nlohmann::json::parse(shell.read("run/run.json"))["best"]["step"];
        CHECK(shell.read("run/snapshots/" + std::to_string(best) + ".safetensors") ==
              shell.read("run/model.safetensors"));
        works(shell, run_of("none", 35, "--snapshots 0"));
        CHECK(!shell.has("none/snapshots"));
        for (const std::string file : {"model.safetensors", "resume.safetensors"})  // they change nothing else
            CHECK_MESSAGE(tensors(shell, "run/" + file) == tensors(shell, "none/" + file), file);
        works(shell, run_of("run", 10));  // the earlier run is kept, snapshots and all
        CHECK(snapshots(shell, "run.1").size() == 5);
    }

    TEST_CASE("snapshots: as many as fit, evenly, the first and the last among them" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        std::string large = "--n-embd 200 ";  // about half a megabyte each
        works(shell, run_of("run", 200, large + "--snapshots 3"));
        std::vector<int> steps = snapshots(shell, "run");
        REQUIRE(steps.size() >= 4);
        REQUIRE(steps.size() < 10);
        CHECK(steps.front() == 0);
        CHECK(steps.back() == 200);
        size_t bytes = 0;
        for (const auto& [name, content] : shell.files("run/snapshots")) bytes += content.size();
        CHECK(bytes <= 3'000'000);
        for (size_t i = 2; i < steps.size(); ++i)
            CHECK(std::abs((steps[i] - steps[i - 1]) - (steps[1] - steps[0])) <= 10);
    }

    TEST_CASE("snapshots: an interrupted run that is resumed has the same" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, run_of("whole", 40));
        works(shell, run_of("part", 15));  // its last evaluation, at 15, is one that the whole run has not
        works(shell, run_of("part", 40, "--resume"));
        for (int step : snapshots(shell, "whole")) {
            std::string file = "/snapshots/" + std::to_string(step) + ".safetensors";
            CHECK_MESSAGE(tensors(shell, "whole" + file) == tensors(shell, "part" + file), step);
        }
    }

    TEST_CASE("snapshots: a full disk ends the run with the reason; resumed when there is room, it has the same" *
              with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, run_of("whole", 40));
        works(shell, run_of("part", 10));
        works(shell, "ln -s /dev/full part/snapshots/20.safetensors.new");
        Result result = shell(run_of("part", 40, "--resume"));
        CHECK(result.code == 2);
        CHECK(is_one_line(result.err));
        CHECK(says(result.err, "cannot write part/snapshots/20.safetensors: No space left on device"));
        CHECK(snapshots(shell, "part") == std::vector{0, 10});
        works(shell, run_of("part", 40, "--resume"));
        CHECK(snapshots(shell, "part") == snapshots(shell, "whole"));
        for (const std::string file : {"model.safetensors", "resume.safetensors"})
            CHECK_MESSAGE(tensors(shell, "part/" + file) == tensors(shell, "whole/" + file), file);
    }
}
