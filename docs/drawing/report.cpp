// Compares runs: a table on the terminal, and a picture of their loss curves over the ruler.
//   report [--picture] DIR[=NAME]...     NAME stands in the picture; the directory's name if there is none
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "common/app/guarded.h"
#include "common/base/error.h"
#include "common/base/files.h"
#include "common/base/format.h"
#include "common/draw/svg.h"
#include "common/text/utf8.h"

using namespace babygpt;
using Json = nlohmann::json;

namespace {

struct Curve {
    std::string name, stage, sample;
    double parameters = 0, speed = 0, loss = 0;
    bool of_characters = true;                      // the loss; a BERT's is the sum of two tasks'
    std::map<std::string, double> ruler, judged;    // judged: what the judge counted, if it was asked
    std::vector<std::pair<double, double>> points;  // characters seen, validation loss
};

bool drawable(double x) { return std::abs(x) <= 1e100; }  // NaN is not, and no span may overflow

double number(const Json& json) {
    if (!json.is_number() || !drawable(json)) throw std::out_of_range("no number, or too large");
    return json;
}

std::map<std::string, double> numbers(const Json& object) {
    std::map<std::string, double> all;
    for (const auto& [key, value] : object.get<Json::object_t>()) all[key] = number(value);
    return all;
}

Curve read_run(const std::string& word) {
    std::string directory = word.substr(0, word.find('='));
    Curve curve;
    curve.name = directory == word ? std::filesystem::path(directory + "/").parent_path().filename().string()
                                   : word.substr(directory.size() + 1);
    std::string bytes = read_file(directory + "/run.json"), line;
    double characters = 0;  // of a step
    try {
        Json run = Json::parse(bytes), options = run.at("options");
        curve.stage = run.at("stage"), curve.sample = run.at("sample");
        curve.parameters = number(run.at("parameters")), curve.speed = number(run.at("tokens_per_second"));
        curve.loss = number(run.at("best").at("val_loss")), curve.ruler = numbers(run.at("baselines"));
        curve.ruler.at("uniform");
        curve.of_characters = !run.contains(Json::json_pointer("/final/follows_accuracy"));
        if (run.contains("judged")) curve.judged = numbers(run.at("judged"));
        double steps = number(run.at("steps"));
        characters = run.contains("tokens") && steps > 0
                         ? number(run["tokens"]) / steps
                         : number(options.at("batch_size")) * number(options.at("block_size"));
    } catch (const std::exception&) {
        fail(directory, "/run.json is not one a run wrote; name another directory");
    }
    std::istringstream metrics(read_file(directory + "/metrics.csv"));
    std::getline(metrics, line);
    for (int row = 2; std::getline(metrics, line); ++row) {
        double step = 0, train = 0, val = 0;
        bool read = std::sscanf(line.c_str(), "%lf,%lf,%lf", &step, &train, &val) == 3;
        if (!read || !drawable(step * characters) || !drawable(val))
            fail("line ", row, " of ", directory, "/metrics.csv is not one a run wrote; name another directory");
        curve.points.push_back({step * characters, val});
    }
    return curve;
}

std::string percent(const std::map<std::string, double>& judged, const char* part, const char* whole) {
    if (!judged.contains(part) || !judged.contains(whole) || judged.at(whole) <= 0) return "-";
    return format("%.0f%%", 100 * judged.at(part) / judged.at(whole));
}

void print_table(const std::vector<Curve>& curves) {
    std::printf("\n%-14s %10s %10s %7s %7s %9s %7s %7s  %s\n", "stage", "parameters", "chars/s", "nats", "bits",
                "to floor", "in form", "memory", "writes");
    for (const Curve& run : curves) {
        std::string sample = run.sample;
        sample.erase(0, sample.find_first_not_of('\n'));
        sample = sample.substr(0, sample.find('\n'));
        std::u32string start = decode_utf8(sample, "sample").substr(0, 40);
        std::printf("%-14s %10.0f %10s %7.3f %7s %9s %7s %7s  %s\n", run.stage.c_str(), run.parameters,
                    run.speed > 0 ? format("%.0f", run.speed).c_str() : "-", run.loss,
                    run.of_characters ? format("%.3f", run.loss / std::log(2.0)).c_str() : "-",
                    run.ruler.contains("floor") ? format("%.3f", run.loss - run.ruler.at("floor")).c_str() : "-",
                    percent(run.judged, "in_form", "tales").c_str(),
                    percent(run.judged, "slots_right", "slots").c_str(), encode_utf8(start).c_str());
    }
}

Chart chart(const std::vector<Curve>& curves) {
    Chart chart{
        .title = "Validation loss against the characters seen",
        .x_label = "characters seen",
        .y_label = curves.at(0).of_characters ? "validation loss, nats per character" : "validation loss, nats"};
    const std::map<std::string, double>& ruler = curves.at(0).ruler;
    chart.highest = ruler.at("uniform") * 1.1;
    for (auto [key, name] :
         {std::pair{"uniform", "knowing nothing"}, {"unigram", "unigram"}, {"bigram", "bigram"}, {"floor", "floor"}})
        if (ruler.contains(key)) chart.lines.push_back({name, ruler.at(key)});
    const std::vector<std::string> dashes = {"", "8 4", "2 3", "12 3 2 3", "5 2"};
    std::map<std::string, size_t> drawn;  // runs of the same stage have its colour and are dashed in other ways
    for (const Curve& curve : curves)
        chart.series.push_back({curve.name, curve.points, fixed_colour(curve.stage),
                                dashes[std::min(drawn[curve.stage]++, dashes.size() - 1)]});
    return chart;
}

// In runs/, where it is looked for; away from the repository beside the first run.
std::string picture_file(const std::string& directory, const std::string& name) {
    std::filesystem::path beside =
        std::filesystem::path(directory.substr(0, directory.find('=')) + "/").parent_path().parent_path();
    return (std::filesystem::is_directory("runs") ? "runs" : beside) / (name + ".svg");
}

// Losses are comparable where their rulers are the same; each ruler gets a picture of its own.
std::vector<std::vector<Curve>> by_ruler(const std::vector<Curve>& curves) {
    std::vector<std::vector<Curve>> groups;
    for (const Curve& curve : curves) {
        auto alike = [&](const std::vector<Curve>& group) { return group[0].ruler == curve.ruler; };
        auto group = std::ranges::find_if(groups, alike);
        if (group == groups.end()) group = groups.insert(group, std::vector<Curve>{});
        group->push_back(curve);
    }
    return groups;
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
        std::printf("\n");
        for (const std::vector<Curve>& group : by_ruler(curves)) {
            bool first = group[0].name == curves[0].name;
            std::string file = picture_file(directories[0], first ? "losses" : "losses_" + group[0].name);
            write_whole(file, draw(chart(group)));
            std::printf("loss curves: %s\n", file.c_str());
        }
    });
}
