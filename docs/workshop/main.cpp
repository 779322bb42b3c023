// The workshop: watch runs while they train, and look into what they learnt, in a browser.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "common/app/guarded.h"
#include "common/base/error.h"
#include "common/base/files.h"
#include "docs/workshop/export.h"
#include "docs/workshop/server.h"

using namespace babygpt;
using namespace babygpt::workshop;

namespace {

void check_places(const Places& places) {
    std::error_code error;
    if (!std::filesystem::exists(places.page + "/index.html", error))
        fail("there is no ", places.page, " here; start the workshop in the project's directory");
    if (!std::filesystem::exists(places.packages + "/uplot", error))
        fail("what the page draws with is not installed (no ", places.packages, "); make workshop does that");
}

void serve(const Places& places, int port) {
    Server server(places);
    std::printf("the workshop is open at http://127.0.0.1:%d (Ctrl-C closes it)\n", server.bind(port));
    std::fflush(stdout);
    server.listen();
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("workshop", [&] {
        Places places;
        int port = 8010;
        std::string run, out;
        std::vector<std::string> texts;
        CLI::App app{"Watch runs while they train, and look into what they learnt, in a browser."};
        app.add_option("--port", port, "where it listens, on this machine only; 0: any that is free")
            ->check(CLI::Range(0, 65535))
            ->capture_default_str();
        app.add_option("--runs", places.runs, "directory of the runs")->capture_default_str();
        CLI::App* keep = app.add_subcommand("export", "writes a run as one HTML file that works by itself");
        keep->add_option("run", run, "directory of the run")->required();
        keep->add_option("-o,--out", out, "file to write (default: the run's name and .html)");
        keep->add_option("--text", texts, "a text to look at (default: two that the run did not learn from)");
        try {
            app.parse(argc, argv);
        } catch (const CLI::CallForHelp&) {
            std::printf("%s", app.help().c_str());
            return;
        } catch (const CLI::ParseError& error) {
            fail(error.what(), "; --help shows what there is");
        }
        check_places(places);
        if (!keep->parsed()) return serve(places, port);
        std::filesystem::path path = std::filesystem::path(run + "/").parent_path();  // without a slash at the end
        places.runs = path.has_parent_path() ? path.parent_path().string() : ".";
        Answers answers(places.runs);
        std::string name = path.filename(), file = out.empty() ? name + ".html" : out;
        std::vector<Question> questions;
        for (const std::string& text : texts) questions.push_back({text});
        write_whole(file, export_page(answers, name, questions, places.page, places.packages));
        std::printf("%s\n", file.c_str());
    });
}
