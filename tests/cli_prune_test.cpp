// Stage 15 as a user types it: weighs a BERT's heads, cuts some out, and goes on with what is left.
#include <nlohmann/json.hpp>
#include <set>

#include "common/train/checkpoint.h"
#include "tests/shell.h"

using namespace babygpt;
using Json = nlohmann::json;

namespace {

// A BERT of two layers of four heads that has been trained for a moment, in runs/13_bert.
const std::string train_quickly =
    "13_bert --data lines --batch-size 2 --block-size 64 --n-embd 16 --n-head 4 --n-layer 2 "
    "--eval-interval 10 --eval-batches 2 --steps 20";
void train_bert(const Shell& shell) {
    write_lines(shell);
    works(shell, train_quickly);
}
const std::string train_on = "15_prune train --steps 4 --eval-interval 2 --eval-batches 2 --decay 0";

Json run_json(const Shell& shell, const std::string& run) { return Json::parse(shell.read(run + "/run.json")); }
size_t lines_with(const std::string& text, const std::string& beginning) {
    size_t count = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) count += line.starts_with(beginning);
    return count;
}

}  // namespace

TEST_SUITE("command line: prune") {
    TEST_CASE("a row for each head, a cut after another, and a small model that loads and fills" * with_programs()) {
        Shell shell;
        train_bert(shell);
        std::string said = works(shell, "15_prune --tolerance 1000");
        CHECK(says(said, "model   runs/13_bert: 8 heads in 2 layers"));
        CHECK(says(said, "without    loss   change  importance  masked  follows"));
        for (const char* head : {"none ", "0.0 ", "0.3 ", "1.0 ", "1.3 "}) CHECK(lines_with(said, head) >= 1);
        CHECK(says(said, "small   2 heads"));
        CHECK(says(said, "files   runs/15_prune/"));
        CHECK(says(works(shell, "report runs/13_bert runs/15_prune"), "2 heads of 8: "));
        Json json = run_json(shell, "runs/15_prune");
        CHECK(json["heads"].size() == 8);
        CHECK(json["cuts"].size() == 6);
        CHECK(json["cuts"].back()["left"] == 2);
        double by_mask = json["cuts"].back()["val_loss"], cut_out = json["final"]["val_loss"];
        CHECK(std::abs(by_mask - cut_out) < 1e-4);
        CHECK(json["parameters"] < json["parameters_before"]);
        CHECK(shell.read("runs/15_prune/model.safetensors").size() <
              shell.read("runs/13_bert/model.safetensors").size());
        CHECK(shell.read("runs/15_prune/heads.svg").starts_with("<svg"));
        Json config = Json::parse(shell.read("runs/15_prune/config.json"));
        CHECK(config["pruned_heads"].size() == 2);  // as Hugging Face has it: by layer
        CHECK(config["pruned_heads"]["0"].size() == 3);
        CHECK(load_metadata(shell.path("runs/15_prune/model.safetensors"))["format"] == "pt");
        CHECK(says(works(shell, "15_prune fill 'At the _ Ada'"), "blank 1 "));
        CHECK(works(shell, "15_prune follows 'Ada won.' 'Ada sang.'").starts_with("0."));
        std::string maps = works(shell, "15_prune fill 'At the _ Ada' --show attention");  // heads keep their numbers
        for (const char* layer : {"0", "1"}) {
            std::set<int> pruned = config["pruned_heads"][layer];
            for (int head = 0; head < 4; ++head)
                CHECK(says(maps, str("layer ", layer, ", head ", head, "\n")) == !pruned.contains(head));
        }
        CHECK(says(works(shell, "15_prune fill 'At the _ Ada' --model runs/13_bert"), "blank 1 "));
        refuses(shell, "13_bert fill 'At the _ Ada' --model runs/15_prune", "was saved by 15_prune; use that program");
        refuses(shell, "13_bert train --resume --out runs/15_prune", "there is no run to resume in runs/15_prune");
    }

    TEST_CASE("its work is kept though nobody reads its table, and though its model's path is no UTF-8" *
              with_programs()) {
        Shell shell;
        train_bert(shell);
        works(shell, "mv runs/13_bert runs/$'caf\\xe9'");
        shell("15_prune --tolerance 1000 --model runs/$'caf\\xe9' | head -n 1");
        CHECK(run_json(shell, "runs/15_prune")["cuts"].size() == 6);
    }

    TEST_CASE("what is left of a BERT that was trained with a change is no stage's either" * with_programs()) {
        Shell shell;
        write_lines(shell);
        works(shell, "(exec -a no_types " + train_quickly + ")");
        works(shell, "15_prune --tolerance 1000");
        works(shell, train_on + " --out on");
        for (const char* run : {"runs/15_prune", "on"}) {
            CHECK(run_json(shell, run)["program"] == "no_types");
            CHECK(load_metadata(shell.path(str(run, "/model.safetensors")))["program"] == "no_types");
        }
    }

    TEST_CASE("a tolerance of 0 cuts out what is no loss, and a pruned model can be pruned again" * with_programs()) {
        Shell shell;
        train_bert(shell);
        works(shell, "15_prune --tolerance 0 --out zero");
        Json zero = run_json(shell, "zero");
        CHECK(double(zero["final"]["val_loss"]) <= double(zero["before"]["val_loss"]) + 1e-5);
        works(shell, "15_prune --tolerance 1000 --out one");
        std::string said = works(shell, "15_prune --model one --out two --tolerance 1000");
        CHECK(says(said, "model   one: 2 heads in 2 layers"));  // nothing is left to be cut
        CHECK(run_json(shell, "two")["options"]["pruned_heads"] == run_json(shell, "one")["options"]["pruned_heads"]);
        CHECK(tensors(shell, "one/model.safetensors") == tensors(shell, "two/model.safetensors"));
        CHECK(says(works(shell, "15_prune --tolerance 1000 --out one/"), "kept    the earlier run, as one.1/"));
    }

    TEST_CASE("while it weighs heads no other run takes its directory" * with_programs()) {
        Shell shell;
        write_lines(shell);
        works(shell, train_quickly + " --eval-batches 100");
        Result result = shell(
            "15_prune --tolerance 1000 --out run >log & run=$!; "
            "while ! grep -qs '^none' log && kill -0 $run; do sleep 0.01; done; kill -STOP $run; "
            "15_prune --tolerance 1000 --out run; code=$?; kill -CONT $run; wait $run && exit $code");
        CHECK(result.code == 2);
        CHECK(is_one_line(result.err));
        CHECK(says(result.err, "another run is writing to run"));
        CHECK(run_json(shell, "run")["cuts"].size() == 6);
        CHECK(!shell.has("run.1"));
    }

    TEST_CASE("a small model is trained on; stopped and resumed it ends with the same bytes" * with_programs()) {
        Shell shell;
        train_bert(shell);
        works(shell, "15_prune --tolerance 1000");
        Json small = run_json(shell, "runs/15_prune");
        works(shell, train_on + " --steps 8 --out whole");
        CHECK(run_json(shell, "whole")["parameters"] == small["parameters"]);
        CHECK(run_json(shell, "whole")["options"]["pruned_heads"] == small["options"]["pruned_heads"]);
        double began = std::stod(columns(shell.read("whole/metrics.csv"))[2][1]);
        CHECK(std::abs(began - double(small["final"]["val_loss"])) < 1e-4);  // where the pruning ended
        works(shell, train_on + " --out parts");
        refuses(shell, "15_prune train --resume --out parts --steps 8 --model runs/13_bert", "leave out --model");
        works(shell, "15_prune train --resume --out parts --steps 8");
        CHECK(tensors(shell, "whole/model.safetensors") == tensors(shell, "parts/model.safetensors"));
        CHECK(tensors(shell, "whole/resume.safetensors") == tensors(shell, "parts/resume.safetensors"));
        works(shell, train_on + " --model runs/13_bert --out full");
        CHECK(run_json(shell, "full")["parameters"] == small["parameters_before"]);
        CHECK(says(works(shell, "15_prune fill 'At the _ Ada' --model whole"), "blank 1 "));
        works(shell, "15_prune --model whole --out again --tolerance 0");
    }

    TEST_CASE("what it cannot use is refused with one line: no model, another stage's, a damaged one, changed text" *
              with_programs()) {
        Shell shell;
        refuses(shell, "15_prune", "there is no model in runs/13_bert; train one first with build/13_bert");
        refuses(shell, "15_prune fill 'a_b'", "there is no model in runs/15_prune");
        train_bert(shell);
        works(shell,
              "10_gpt --data lines --steps 0 --eval-batches 1 --batch-size 1 --block-size 4 --n-embd 4 "
              "--n-head 1 --n-layer 1 --tokens 0");
        refuses(shell, "15_prune --model runs/10_gpt", "was saved by 10_gpt");
        refuses(shell, "15_prune --tolerance -1", "--tolerance: '-1' is not a number from 0 to 1000");
        refuses(shell, "15_prune --steps 3", "this stage's prune has no --steps");
        refuses(shell, "15_prune train --n-head 2", "this stage's train has no --n-head");
        refuses(shell, "13_bert --tolerance 1", "this stage's train has no --tolerance");
        refuses(shell, "15_prune --out runs/13_bert", "--out runs/13_bert is the directory of the model");
        refuses(shell, "15_prune train --model runs/13_bert --steps 1 --out runs/13_bert/",
                "is the directory of the model");
        std::string model = shell.read("runs/13_bert/model.safetensors");
        shell.write("runs/13_bert/model.safetensors",
                    model.substr(0, model.size() - 4) + std::string("\0\0\xC0\x7F", 4));
        refuses(shell, "15_prune >/dev/null", "the loss of runs/13_bert is no number");
        CHECK(!shell.has("runs/15_prune"));
        shell.write("runs/13_bert/model.safetensors", model.substr(0, 3000));
        refuses(shell, "15_prune", "runs/13_bert/model.safetensors is damaged");
        auto with_heads = [&](const std::string& heads) {
            std::string other = model, before = "\\\"pruned_heads\\\":\\\"\\\",",
                        now = "\\\"pruned_heads\\\":\\\"" + heads + "\\\",";
            size_t at = other.find(before);
            REQUIRE(at != other.npos);
            other.replace(at, before.size(), now);
            uint64_t length;
            std::copy_n(other.data(), 8, reinterpret_cast<char*>(&length));
            length += now.size() - before.size();
            std::copy_n(reinterpret_cast<const char*>(&length), 8, other.data());
            shell.write("runs/13_bert/model.safetensors", other);
        };
        with_heads("0:x");
        refuses(shell, "15_prune", "pruned_heads is '0:x', not heads by layer");
        with_heads("0:9");
        refuses(shell, "15_prune", "there is no head 9 in layer 0");
        with_heads("0:1");
        refuses(shell, "15_prune", "the model's is (12,16)");
        shell.write("runs/13_bert/model.safetensors", model);
        shell.write("lines", shell.read("lines") + "Ada sang.\n");
        refuses(shell, "15_prune", "the text lines has changed since");
        refuses(shell, train_on + " --model runs/13_bert --out on", "the text lines has changed since");
    }
}
