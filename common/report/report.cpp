// Compares runs: a table on the terminal, and a picture of their loss curves over the ruler.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/corpus.h"
#include "common/files.h"
#include "common/trainer.h"

using namespace babygpt;
using Json = nlohmann::json;

namespace {

struct Curve {
    Json run;
    std::vector<std::pair<double, double>> points;  // characters seen, validation loss
};

Curve read_run(const std::string& directory) {
    Curve curve{Json::parse(read_file(directory + "/run.json"), nullptr, false), {}};
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

template <class... Values>
std::string format(const char* pattern, Values... values) {
    char text[512];
    std::snprintf(text, sizeof text, pattern, values...);
    return text;
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
        std::u32string start = decode_utf8(sample, "sample").substr(0, 60);
        std::printf("%-14s %10ld %10s %7.3f %7.3f %9s %7s %7s  %s\n", run.at("stage").get<std::string>().c_str(),
                    run.at("parameters").get<long>(), speed > 0 ? format("%.0f", speed).c_str() : "-", loss,
                    loss / std::log(2.0),
                    lines.contains("floor") ? format("%.3f", loss - lines["floor"].get<double>()).c_str() : "-",
                    percent(judged, "in_form", "tales").c_str(), percent(judged, "slots_right", "slots").c_str(),
                    encode_utf8(start).c_str());
    }
}

// No background, and colours of middle brightness: it reads on white and on black.
std::string draw(const std::vector<Curve>& curves) {
    const double width = 900, height = 520, left = 60, right = 740, top = 20, bottom = 470;
    const char* colours[] = {"#e6550d", "#3182bd", "#31a354", "#a46bd6", "#d6616b",
                             "#1ba8a8", "#b8860b", "#7f7f7f", "#e377c2", "#2f6fdf"};
    double least = 1e300, most = 1, highest = 0;
    for (const Curve& curve : curves)
        for (auto [x, y] : curve.points) {
            if (x > 0) least = std::min(least, x), most = std::max(most, x);
            highest = std::max(highest, y);
        }
    const Json& lines = curves.at(0).run.at("baselines");
    highest = std::min(highest, lines.at("uniform").get<double>() * 1.1);
    if (least > most) least = 1;
    auto px = [&](double x) {
        return left + (right - left) * std::log(std::max(x, least) / least) / std::max(1e-9, std::log(most / least));
    };
    auto py = [&](double y) { return bottom - (bottom - top) * std::min(y, highest) / highest; };

    std::string svg = format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"13\" "
        "fill=\"#888\">\n"
        "<title>Validation loss of every stage against the characters it has seen</title>\n",
        width, height);
    svg += format("<path d=\"M%g %gV%gH%g\" fill=\"none\" stroke=\"#888\"/>\n", left, top, bottom, right);
    for (int y = 0; y <= highest; ++y)
        svg += format("<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", left - 8, py(y) + 4, y);
    for (double x = std::pow(10, std::ceil(std::log10(least))); x <= most; x *= 10)
        svg += format("<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", px(x), bottom + 20,
                      x >= 1e6 ? format("%gM", x / 1e6).c_str() : format("%gk", x / 1e3).c_str());
    svg += format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">characters seen</text>\n", (left + right) / 2,
                  height - 8);
    svg += format(
        "<text transform=\"translate(16 %g) rotate(-90)\" text-anchor=\"middle\">validation loss, nats per "
        "character</text>\n",
        (top + bottom) / 2);
    for (auto [key, label] :
         {std::pair{"uniform", "knowing nothing"}, {"unigram", "unigram"}, {"bigram", "bigram"}, {"floor", "floor"}}) {
        if (!lines.contains(key)) continue;
        double y = lines[key];
        svg += format(
            "<path d=\"M%g %.1fH%g\" stroke=\"#888\" stroke-dasharray=\"4 4\"/><text x=\"%g\" y=\"%.1f\">%s "
            "%.2f</text>\n",
            left, py(y), right, left + 6, py(y) - 4, label, y);
    }
    double label_y = top + 10;
    for (size_t i = 0; i < curves.size(); ++i) {
        if (curves[i].points.size() < 2) continue;
        const char* colour = colours[i % std::size(colours)];
        std::string path;
        for (auto [x, y] : curves[i].points) path += format("%s%.1f %.1f", path.empty() ? "M" : "L", px(x), py(y));
        svg += "<path d=\"" + path + format("\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", colour);
        svg += format("<path d=\"M%g %gh20\" stroke=\"%s\" stroke-width=\"3\"/><text x=\"%g\" y=\"%g\">%s</text>\n",
                      right + 14, label_y, colour, right + 40, label_y + 4,
                      curves[i].run.at("stage").get<std::string>().c_str());
        label_y += 22;
    }
    return svg + "</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("report", [&] {
        if (argc < 2) fail("name the run directories to compare, for example runs/03_head runs/04_multihead");
        std::vector<Curve> curves;
        for (int i = 1; i < argc; ++i) curves.push_back(read_run(argv[i]));
        print_table(curves);
        write_whole("runs/losses.svg", draw(curves));
        std::printf("\nloss curves: runs/losses.svg\n");
    });
}
