// A run as one file that works by itself.
#include "docs/workshop/export.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/train/run_directory.h"
#include "docs/workshop/look.h"
#include "tests/check.h"
#include "tests/temporary.h"
#include "tests/workshop_run.h"

using namespace babygpt;
using namespace babygpt::workshop;
using Json = nlohmann::json;

namespace {

// What the page draws with, in short.
void write_packages(const std::filesystem::path& at) {
    std::filesystem::create_directories(at / "uplot/dist");
    std::ofstream(at / "uplot/dist/uPlot.esm.js") << "/* </script> */";
    std::ofstream(at / "uplot/dist/uPlot.min.css") << ".uplot {}";
}

// What a run that was exported holds.
Json kept_in(const std::string& page) {
    std::string opening = "id=\"kept\">";
    size_t from = page.find(opening) + opening.size();
    std::string data = page.substr(from, page.find("</script>", from) - from);
    CHECK(data.find('<') == std::string::npos);
    return Json::parse(data);
}

}  // namespace

TEST_SUITE("workshop") {
    TEST_CASE("export: one file with all it needs") {
        TemporaryDirectory directory;
        write_run(directory.path / "run", tiny("10_gpt"));
        write_packages(directory.path);
        Answers answers(directory.path);
        auto page_of = [&](const std::string& run, const Question& question) {
            return export_page(answers, run, {question}, "docs/workshop/page", directory.path);
        };
        std::string html = page_of("run", {text});
        for (const char* outside : {"href=\"/", "src=", "\"/packages", "</script> */"})
            CHECK_MESSAGE(html.find(outside) == std::string::npos, outside);
        Json kept = kept_in(html);
        CHECK(kept["runs"][0]["sample"] == "bad <!-- <script>");
        CHECK(kept["looks"][text]["20"] == answers.look({{"run", "run"}, {"step", 20}, {"text", text}}));
        CHECK(kept["samples"].size() == 2);
        write_run(directory.path / "bert", tiny("13_bert"));
        Json bert = kept_in(page_of("bert", {"bad", "he_d", 2}));
        CHECK(bert["looks"]["bad"]["20"] ==
              answers.look({{"run", "bert"}, {"step", 20}, {"text", "bad"}, {"second", "he_d"}, {"padding", 2}}));
        CHECK(bert["parts"]["bad"]["heads"][0]["columns"] == 12);
    }

    TEST_CASE("export: of many snapshots fifty are kept, from the first to the last") {
        TemporaryDirectory directory;
        std::filesystem::path at = directory.path / "run";
        write_run(at, tiny("10_gpt"));
        std::string snapshot = read_file(at / "snapshots/20.safetensors");
        for (int step = 1; step <= 120; ++step)
            write_whole((at / "snapshots" / str(step, ".safetensors")).string(), snapshot, Flush::no);
        write_packages(directory.path);
        Answers answers(directory.path);
        Json kept = kept_in(export_page(answers, "run", {}, "docs/workshop/page", directory.path));
        std::vector<int> steps = kept["runs"][0]["snapshots"];
        CHECK(steps.size() == 50);
        CHECK(steps.front() == 0);
        CHECK(steps.back() == 120);
        CHECK(kept["samples"].size() == 50);
    }

    TEST_CASE("export: what looks like a tag takes no time") {
        TemporaryDirectory directory;
        std::filesystem::path at = directory.path / "run";
        write_run(at, tiny("10_gpt"));
        std::filesystem::remove(at / "model.safetensors");
        Json run = Json::parse(read_file(at / "run.json"));
        run["sample"] = std::string(3'000'000, '<');
        write_whole((at / "run.json").string(), run.dump());
        write_packages(directory.path);
        Answers answers(directory.path);
        auto begun = std::chrono::steady_clock::now();
        std::string html = export_page(answers, "run", {}, "docs/workshop/page", directory.path);
        CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(10));
        CHECK(kept_in(html)["runs"][0]["sample"] == run["sample"]);
    }
}
