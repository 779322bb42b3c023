// Compares runs: a table on the terminal, and a picture of their loss curves over the ruler.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/text/utf8.h"
#include "common/train/trainer.h"
#include "docs/drawing/svg.h"

using namespace babygpt;
using Json = nlohmann::json;

namespace {

struct Curve {
    std::string name;
    Json run;
    std::vector<std::pair<double, double>> points;  // characters seen, validation loss
};

Curve read_run(const std::string& directory) {
    Curve curve{std::filesystem::path(directory + "/").parent_path().filename(),
                Json::parse(read_file(directory + "/run.json"), nullptr, false),
                {}};
    double characters = 0;
    try {  // all that is used below must be there
        const Json &run = curve.run, &options = run.at("options");
        characters = options.at("batch_size").get<double>() * options.at("block_size").get<double>();
        run.at("stage").get<std::string>(), run.at("sample").get<std::string>(), run.at("parameters").get<long>();
        run.at("tokens_per_second").get<double>(), run.at("best").at("val_loss").get<double>();
        for (const char* line : {"uniform", "unigram", "bigram"}) run.at("baselines").at(line).get<double>();
    } catch (const Json::exception&) {
        fail(directory, "/run.json is not one a run wrote");
    }
    std::ifstream metrics(directory + "/metrics.csv");
    std::string line;
    std::getline(metrics, line);
    while (std::getline(metrics, line)) {
        double step = 0, train = 0, val = 0;
        if (std::sscanf(line.c_str(), "%lf,%lf,%lf", &step, &train, &val) == 3)
            curve.points.push_back({step * characters, val});
    }
    return curve;
}

std::string percent(const Json& judged, const char* part, const char* whole) {
    double count = judged.value(whole, 0.0);
    return count > 0 ? format("%.0f%%", 100 * judged.value(part, 0.0) / count) : "-";
}

void print_table(const std::vector<Curve>& curves) {
    std::printf("\n%-14s %10s %10s %7s %7s %9s %7s %7s  %s\n", "stage", "parameters", "chars/s", "nats", "bits",
                "to floor", "in form", "memory", "writes");
    for (const Curve& curve : curves) {
        const Json& run = curve.run;
        double loss = run.at("best").at("val_loss"), speed = run.at("tokens_per_second");
        const Json& lines = run.at("baselines");
        Json judged = run.value("judged", Json::object());
        std::string sample = run.at("sample");
        sample.erase(0, sample.find_first_not_of('\n'));
        sample = sample.substr(0, sample.find('\n'));
        std::u32string start = decode_utf8(sample, "sample").substr(0, 40);
        std::printf("%-14s %10ld %10s %7.3f %7.3f %9s %7s %7s  %s\n", run.at("stage").get<std::string>().c_str(),
                    run.at("parameters").get<long>(), speed > 0 ? format("%.0f", speed).c_str() : "-", loss,
                    loss / std::log(2.0),
                    lines.contains("floor") ? format("%.3f", loss - lines["floor"].get<double>()).c_str() : "-",
                    percent(judged, "in_form", "tales").c_str(), percent(judged, "slots_right", "slots").c_str(),
                    encode_utf8(start).c_str());
    }
}

Chart chart(const std::vector<Curve>& curves) {
    Chart chart{.title = "Validation loss against the characters seen",
                .x_label = "characters seen",
                .y_label = "validation loss, nats per character"};
    const Json& lines = curves.at(0).run.at("baselines");
    chart.highest = lines.at("uniform").get<double>() * 1.1;
    for (auto [key, name] :
         {std::pair{"uniform", "knowing nothing"}, {"unigram", "unigram"}, {"bigram", "bigram"}, {"floor", "floor"}})
        if (lines.contains(key)) chart.lines.push_back({name, lines[key]});
    for (const Curve& curve : curves) chart.series.push_back({curve.name, curve.points});
    return chart;
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("report", [&] {
        std::vector<std::string> directories(argv + 1, argv + argc);
        bool picture_only = !directories.empty() && directories[0] == "--picture";  // to standard output
        if (picture_only) directories.erase(directories.begin());
        if (directories.empty())
            fail("name the run directories to compare, for example runs/03_head runs/04_multihead");
        std::vector<Curve> curves;
        for (const std::string& directory : directories) curves.push_back(read_run(directory));
        if (picture_only) {
            std::fputs(draw(chart(curves)).c_str(), stdout);
            return;
        }
        print_table(curves);
        write_whole("runs/losses.svg", draw(chart(curves)));
        std::printf("\nloss curves: runs/losses.svg\n");
    });
}
