// Draws tables as pictures: reads them from standard input, writes SVG to standard output.
//   draw chart TITLE X-LABEL Y-LABEL [log] [logy]
//                      a line of names, then lines of x and a y for each name but the first, or - for no point (a _ in
//                      a name is drawn as a space, but for a stage's name); log, logy: x, y in powers of ten
//   draw heat TITLE    between tabs: "# name" begins a map, a line of column labels, then rows
#include <iostream>
#include <sstream>

#include "common/app/guarded.h"
#include "common/base/error.h"
#include "common/draw/svg.h"

using namespace babygpt;

namespace {

std::vector<std::string> split(const std::string& line, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(line);
    for (std::string part; std::getline(stream, part, at);)
        if (at != ' ' || !part.empty()) parts.push_back(part);
    return parts;
}

double number(const std::string& word) {
    char* end = nullptr;
    double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end || std::isnan(value)) fail("expected a number, found \"", word, "\"");
    if (std::abs(value) > 1e100) fail("expected a number of at most 1e100, found \"", word, "\"");
    return std::abs(value) < 1e-100 ? 0 : value;  // so that no span overflows or is too small to divide by
}

std::string chart(Chart picture) {
    std::string line;
    std::getline(std::cin, line);
    for (std::string name : split(line, ' ')) {
        int colour = fixed_colour(name);
        if (colour < 0) std::ranges::replace(name, '_', ' ');
        picture.series.push_back({name, {}, colour});
    }
    if (picture.series.size() < 2) fail("the first line has to name x and what is drawn against it");
    while (std::getline(std::cin, line)) {
        std::vector<std::string> words = split(line, ' ');
        if (words.size() != picture.series.size())
            fail("expected ", picture.series.size(), " numbers, found \"", line, "\"");
        double x = number(words[0]);
        if (picture.log_x && x <= 0) fail("x has to be above 0 on a log axis, found \"", words[0], "\"");
        for (size_t i = 1; i < words.size(); ++i) {
            if (words[i] == "-") continue;
            double y = number(words[i]);
            if (picture.log_y && y <= 0) fail("y has to be above 0 on a log axis, found \"", words[i], "\"");
            if (y < 0) fail("the axis begins at 0, found \"", words[i], "\" below it");
            picture.series[i].points.push_back({x, y});
        }
    }
    picture.series.erase(picture.series.begin());
    return draw(picture);
}

std::string heat(const std::string& title) {
    std::vector<HeatMap> maps;
    for (std::string line; std::getline(std::cin, line);) {
        if (line.starts_with("# ")) {
            maps.push_back({line.substr(2), {}, {}, {}});
            std::getline(std::cin, line);
            maps.back().columns = split(line, '\t');
            if (maps.back().columns.size() < 2) fail("the line after \"# name\" has to label the columns");
            maps.back().columns.erase(maps.back().columns.begin());
            continue;
        }
        if (maps.empty()) fail("a map begins with \"# name\", found \"", line, "\"");
        std::vector<std::string> cells = split(line, '\t');
        if (cells.size() != maps.back().columns.size() + 1)
            fail("expected a label and ", maps.back().columns.size(), " numbers, found \"", line, "\"");
        maps.back().rows.push_back(cells[0]);
        maps.back().values.emplace_back();
        for (size_t i = 1; i < cells.size(); ++i) maps.back().values.back().push_back(number(cells[i]));
    }
    if (maps.empty()) fail("there is nothing to draw");
    return draw(title, maps);
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("draw", [&] {
        std::vector<std::string> words(argv + 1, argv + argc);
        bool log_x = words.size() > 4 && words[4] == "log", log_y = words.size() > 4u + log_x && words.back() == "logy";
        if (words.size() == 4u + log_x + log_y && words[0] == "chart")
            std::cout << chart(
                {.title = words[1], .x_label = words[2], .y_label = words[3], .log_x = log_x, .log_y = log_y});
        else if (words.size() == 2 && words[0] == "heat")
            std::cout << heat(words[1]);
        else
            fail("usage: draw chart TITLE X-LABEL Y-LABEL [log] [logy], or draw heat TITLE");
    });
}
