// What the workshop tells of runs: while they train, when they are made longer, and when they are damaged.
#include "docs/workshop/runs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "common/text/sentences.h"
#include "common/train/run_directory.h"
#include "docs/workshop/export.h"
#include "tests/check.h"
#include "tests/workshop_run.h"

using namespace babygpt;
using namespace babygpt::workshop;
using Json = nlohmann::json;

namespace {

// A directory of runs, with one in it.
struct Shelf {
    TemporaryDirectory directory;
    std::filesystem::path at = directory.path / "run";
    Answers answers{directory.path};

    Shelf() { write_run(at, tiny("10_gpt")); }
    Json run() { return answers.runs.list().at(0); }
};

}  // namespace

TEST_SUITE("workshop") {
    TEST_CASE("runs: a run of a stage with a change is watched, not looked into") {
        Shelf shelf;
        const auto& at = shelf.at;
        const std::map<std::string, std::string> changed{{"program", "no_mask"}};
        for (const char* file : {"model.safetensors", "snapshots/0.safetensors", "snapshots/20.safetensors"})
            write_whole((at / file).string(), saved_bytes(tiny("10_gpt"), 20, 0, 1, changed));
        auto check_watched = [&] {
            Json run = shelf.run();
            CHECK(run["remark"] == "no_mask is 10_gpt with a change, and the workshop has only the stages themselves");
            CHECK(run["looks"] == false);
            CHECK(run["writes"] == false);
            CHECK(run["snapshots"].empty());
            CHECK(run["rows"].size() == 2);
            return run;
        };
        Json saved = Json::parse(read_file((at / "run.json").string()));
        std::filesystem::remove(at / "run.json");
        check_watched();  // while it trains, its model says so
        saved["program"] = "no_mask";
        write_whole((at / "run.json").string(), saved.dump());
        CHECK(check_watched()["sample"] == saved["sample"]);
        Answers& answers = shelf.answers;
        const Json question = {{"run", "run"}, {"text", text}};
        for (auto asked : {&Answers::look, &Answers::write, &Answers::sample})
            check_error([&] { (answers.*asked)(question); }, {"no_mask is 10_gpt with a change"});
        std::filesystem::create_directories(shelf.directory.path / "uplot/dist");
        for (const char* file : {"uPlot.esm.js", "uPlot.min.css"})
            std::ofstream(shelf.directory.path / "uplot/dist" / file) << " ";
        CHECK(export_page(answers, "run", {{text}}, "docs/workshop/page", shelf.directory.path).size() > 1000);
    }

    TEST_CASE("runs: a run that was made longer is shown with the new plan before it is better than it was") {
        Shelf shelf;
        const auto& at = shelf.at;
        Options longer = tiny("10_gpt");
        longer.steps = 60;
        auto metrics = (at / "metrics.csv").string();
        auto check_plan = [&](const char* state) {
            Json run = shelf.run();
            CHECK(run["state"] == state);
            CHECK(run["steps"] == 60);
            CHECK(run["options"]["steps"] == 60);
            CHECK(run["best"]["step"] == 20);
        };
        for (const std::string file : {"resume.safetensors", "snapshots/40.safetensors"}) {
            CAPTURE(file);
            {
                DirectoryLock lock(at);
                write_whole((at / file).string(), saved_bytes(longer, 20));
                check_plan("training");
                CHECK(!shelf.run().contains("sample"));
                write_whole(metrics, read_file(metrics) + "40,2.5,2.3,1000.0,3\n");
                check_plan("training");
            }
            check_plan("stopped");  // run.json still tells of the end at step 20
            std::filesystem::remove_all(at);
            write_run(at, tiny("10_gpt"));
        }
    }

    TEST_CASE("runs: a run appears with its first model") {
        Shelf shelf;
        std::filesystem::path at = shelf.directory.path / "begins";
        std::filesystem::create_directory(at);
        DirectoryLock lock(at);
        std::filesystem::copy(shelf.at / "metrics.csv", at / "metrics.csv");
        CHECK(shelf.answers.runs.list().size() == 1);
        std::filesystem::copy(shelf.at / "model.safetensors", at / "model.safetensors");
        CHECK(shelf.run()["name"] == "begins");
        CHECK(shelf.run()["state"] == "training");
    }

    TEST_CASE("runs: a process that has ended trains nothing, though the system lists a lock of it") {
        Shelf shelf;
        int directory = open(shelf.at.c_str(), O_RDONLY);
        pid_t child = fork();
        if (child == 0) flock(directory, LOCK_EX), _exit(0);
        waitpid(child, nullptr, 0);
        CHECK(shelf.run()["state"] == "finished");
        close(directory);
    }

    TEST_CASE("runs: a file that was written anew is another, even at the same time and as long") {
        TemporaryDirectory directory;
        std::string file = (directory.path / "file").string();
        write_whole(file, "a");
        std::string before = version_of(file);
        auto time = std::filesystem::last_write_time(file);
        write_whole(file, "b");
        std::filesystem::last_write_time(file, time);
        CHECK(version_of(file) != before);
    }

    TEST_CASE("runs: what was read of a file is forgotten when that is gone") {
        Shelf shelf;
        std::filesystem::path metrics = shelf.at / "metrics.csv", away = shelf.at / "away";
        Json rows = shelf.run()["rows"];
        auto time = std::filesystem::last_write_time(metrics);
        std::string bytes = read_file(metrics);
        std::filesystem::rename(metrics, away);
        CHECK(shelf.run()["rows"].empty());
        bytes.replace(bytes.find("2.25"), 4, "1.25");
        std::ofstream(away) << bytes;  // nothing tells the file from the one before
        std::filesystem::last_write_time(away, time);
        std::filesystem::rename(away, metrics);
        CHECK(shelf.run()["rows"][1][2] == 1.25);
        CHECK(rows[1][2] == 2.25);
    }

    TEST_CASE("answers: what a BERT writes is there as soon as a text for it is") {
        Shelf shelf;
        std::string data = (shelf.directory.path / "sentences").string(), lines;
        for (int i = 0; i < 60; ++i) lines += i % 3 ? "bad head\n" : "he bad\n";
        write_whole(data, lines);
        write_run(shelf.at, tiny("13_bert"), 0, data, load_sentences(data).hash);
        auto sample = [&] { return shelf.answers.sample({{"run", "run"}})["sample"].get<std::string>(); };
        std::filesystem::remove(data);
        CHECK(sample() == "");
        write_whole(data, lines);
        CHECK(sample().find('_') != std::string::npos);
    }

    TEST_CASE("runs: what is nested without end is damaged") {
        Shelf shelf;
        const auto& at = shelf.at;
        const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
        auto check_nested = [&](const char* file) {
            Json run = shelf.run();
            CHECK(run["state"] == "damaged");
            CHECK(run.value("problem", "").find(file) != std::string::npos);
            CHECK(run.value("problem", "").find("nested") != std::string::npos);
        };
        write_whole((at / "run.json").string(), R"({"stage":"10_gpt","options":{"x":)" + deep + "}}");
        check_nested("run.json");
        std::filesystem::remove(at / "run.json");
        write_whole((at / "model.safetensors").string(),
                    saved_bytes(tiny("10_gpt"), 20, 0, 1, {{"options", "{\"x\":" + deep + "}"}}));
        check_nested("model.safetensors");
    }

    TEST_CASE("runs: what many ask for at once is read once") {
        Shelf shelf;
        std::string data = (shelf.directory.path / "letters.txt").string(), bytes;
        while (bytes.size() < 3'000'000) bytes += "bad head\n\n";
        write_whole(data, bytes);
        write_run(shelf.at, tiny("10_gpt"), 0, data, load_corpus(data).hash);
        std::filesystem::remove(shelf.at / "run.json");
        auto bytes_read = [] {
            std::ifstream counts("/proc/self/io");
            std::string name;
            size_t count = 0;
            counts >> name >> count;  // rchar: 123
            return count;
        };
        size_t before = bytes_read();
        std::vector<std::thread> readers;
        for (int i = 0; i < 10; ++i)
            readers.emplace_back([&] { CHECK(shelf.answers.runs.describe("run").contains("baselines")); });
        for (std::thread& one : readers) one.join();
        CHECK(bytes_read() - before < 2 * bytes.size());
    }

    TEST_CASE("runs: of a ruler only the lines that a run writes are shown, if they are numbers") {
        Shelf shelf;
        std::string file = (shelf.at / "run.json").string();
        Json run = Json::parse(read_file(file));
        run["baselines"] = {{"uniform", 3.5}, {"unigram", 2.5}, {"bigram", "2"}, {"floor", nullptr}, {"other", "x"}};
        write_whole(file, run.dump());
        CHECK(shelf.run()["baselines"] == Json{{"uniform", 3.5}, {"unigram", 2.5}});
    }

    TEST_CASE("runs: a model that does not say its step or its loss is named") {
        Shelf shelf;
        const auto& at = shelf.at;
        std::filesystem::remove(at / "run.json");
        for (const auto& [key, value] : std::map<std::string, std::vector<std::string>>{
                 {"step", {"", "x", "7x", "1e9", "99999999999"}}, {"val_loss", {"", "x", "nan", "inf"}}})
            for (const std::string& its : value) {
                CAPTURE(key);
                CAPTURE(its);
                write_whole((at / "model.safetensors").string(), saved_bytes(tiny("10_gpt"), 20, 0, 1, {{key, its}}));
                Json run = shelf.run();
                CHECK(run["state"] == "damaged");
                CHECK(run.value("problem", "").find("model.safetensors is damaged: its " + key) != std::string::npos);
            }
    }

    TEST_CASE("runs: a file that is too large to be shown is said to be too large") {
        Shelf shelf;
        std::string rows = "step,train_loss,val_loss,tokens_per_second,seconds\n";
        while (rows.size() < 10'100'000) rows += "0,3.0,3.1,0.0,0.1\n";
        write_whole((shelf.at / "metrics.csv").string(), rows);
        Json run = shelf.run();
        CHECK(run["state"] == "damaged");
        CHECK(run["problem"].get<std::string>().find("has more than 10 MB") != std::string::npos);
        CHECK(run["problem"].get<std::string>().find("memory") == std::string::npos);
    }
}
