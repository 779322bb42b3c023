// Pictures as SVG: charts and heat maps. No background; text is dark on a light page and light on a dark one, and other
// colours are of middle brightness, so that they read on both.
#pragma once
#include <utf8.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/base/format.h"

namespace babygpt {

// Text as XML takes it: what it has no way to hold, as control characters, becomes a question mark in a diamond.
inline std::string escaped(const std::string& text) {
    std::string safe;
    for (char c : utf8::replace_invalid(text)) {
        if (c == '&')
            safe += "&amp;";
        else if (c == '<')
            safe += "&lt;";
        else if (c == '>')
            safe += "&gt;";
        else if (0 <= c && c < ' ')
            safe += "\uFFFD";
        else
            safe += c;
    }
    return safe;
}

inline std::string picture(double width, double height, const std::string& title, const std::string& content) {
    return format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
               "font-size=\"14\" fill=\"currentColor\">\n"
               "<style>svg { color: #4d5761 } @media (prefers-color-scheme: dark) { svg { color: #b6bfc9 } }</style>\n"
               "<title>",
               width, height) +
           escaped(title) + "</title>\n" + content + "</svg>\n";
}

inline std::string label(double x, double y, const char* anchor, const std::string& text) {
    return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor) + escaped(text) + "</text>\n";
}

struct Chart {
    struct Series {
        std::string name;
        std::vector<std::pair<double, double>> points;
        int colour = -1;        // of the palette; -1: by its place among the series
        std::string dash = "";  // as SVG's stroke-dasharray
    };
    struct Line {  // dotted, across the whole
        std::string name;
        double y;
    };
    std::string title, x_label, y_label;
    bool log_x = false, log_y = false;
    double highest = 0;  // what lies above is cut; 0: nothing is
    std::vector<Series> series = {};
    std::vector<Line> lines = {};
};

inline constexpr const char* palette[] = {"#2f6fdf", "#e6550d", "#a0674b", "#31a354", "#a46bd6",
                                          "#b8860b", "#1ba8a8", "#7f7f7f", "#d62728", "#e377c2"};

// A stage has the same colour in every picture, that of its number, and so has a kind of memory. -1 if it is neither.
inline int fixed_colour(const std::string& name) {
    for (auto [kind, colour] :
         {std::pair{"thing", 0}, {"name", 1}, {"pronoun", 1}, {"place", 3}, {"box", 4}, {"sum", 5}, {"sound", 6}})
        if (name == kind) return colour;
    bool numbered = name.find_first_not_of("0123456789") == 2 && name[2] == '_';
    return numbered ? std::stoi(name) : -1;
}

// 1, 2 or 5 times a power of ten, so that about `count` steps make up the range.
inline double nice_step(double range, int count) {
    double step = std::pow(10, std::floor(std::log10(range / count)));
    while (range / step > count) step *= range / step > 5 * count ? 5 : 2;
    return step;
}

inline std::string short_number(double x) {
    return x >= 1e6 ? format("%gM", x / 1e6) : x >= 1e4 ? format("%gk", x / 1e3) : format("%g", x);
}

inline std::string power_of_ten(int n) { return -3 < n && n < 4 ? format("%g", std::pow(10, n)) : format("1e%d", n); }

// Names beside the frame, each as near to the end of its line as those above and below it allow.
struct Names {
    struct Name {
        double y;
        bool joined;             // the line reaches the edge of the frame
        std::string line, text;  // line: how it is drawn
    };
    std::vector<Name> all = {};

    std::string draw(double x, double top, double bottom) const {
        const double apart = 20;
        std::vector<Name> names = all;
        std::ranges::stable_sort(names, {}, &Name::y);
        std::vector<double> at;
        double most = bottom - apart * (double(names.size()) - 1), least = top;
        for (const Name& name : names) {
            at.push_back(std::max(least, name.y));
            least = at.back() + apart;
        }
        for (size_t i = names.size(); i--;)  // those that hang below the frame go up again
            at[i] = std::max(top, std::min(at[i], most + apart * double(i)));
        std::string svg;
        for (size_t i = 0; i < names.size(); ++i) {
            // A thin grey way to where the name stands, so that it is not taken for the line itself.
            if (names[i].joined)
                svg += format("<path d=\"M%g %.1fL%g %.1f\" stroke=\"currentColor\" stroke-opacity=\"0.4\"/>", x,
                              names[i].y, x + 14, at[i]);
            svg += format("<path d=\"M%g %.1fh26\" fill=\"none\" ", x + 14, at[i]);
            svg += names[i].line + "/>" + label(x + 48, at[i] + 5, "start", names[i].text);
        }
        return svg;
    }
};

inline std::string draw(const Chart& chart) {
    const double width = 800, height = 500, left = 50, right = 560, top = 40, bottom = 445;
    double least = 1e300, most = -1e300, lowest = 1e300, highest = 0;
    for (const Chart::Series& series : chart.series)
        for (auto [x, y] : series.points) {
            if (x > 0 || !chart.log_x) least = std::min(least, x), most = std::max(most, x);
            highest = std::max(highest, y);
            if (y > 0) lowest = std::min(lowest, y);
        }
    if (chart.highest > 0) highest = std::min(highest, chart.highest);
    if (least > most) least = most = 1;                         // there is no point
    if (least == most) most += std::max(1.0, std::abs(least));  // all stand above one another
    if (highest <= 0) highest = lowest = 1;
    const int first_power = chart.log_y ? int(std::floor(std::log10(lowest))) : 0;
    lowest = std::pow(10, first_power);  // where a logarithmic axis begins
    if (chart.log_y) highest = std::max(highest, 10 * lowest);
    auto px = [&](double x) {
        double part =
            chart.log_x ? std::log(std::max(x, least) / least) / std::log(most / least) : (x - least) / (most - least);
        return left + (right - left) * part;
    };
    auto py = [&](double y) {
        double part = chart.log_y ? std::log(std::max(y, lowest) / lowest) / std::log(highest / lowest) : y / highest;
        return bottom - (bottom - top) * std::clamp(part, 0.0, 1.0);
    };

    std::string svg =
        format("<path d=\"M%g %gV%gH%g\" fill=\"none\" stroke=\"currentColor\"/>\n", left, top, bottom, right);
    double step = nice_step(highest, 6);
    if (chart.log_y) {
        int last = int(std::floor(std::log10(highest))), apart = 1 + (last - first_power) / 12;
        for (int n = first_power; n <= last; n += apart)
            svg += label(left - 8, py(std::pow(10, n)) + 5, "end", power_of_ten(n));
    } else {
        for (double y = 0; y <= highest; y += step) svg += label(left - 8, py(y) + 5, "end", format("%g", y));
    }
    if (chart.log_x) {
        double factor = most / least > 100 ? 10 : 2;
        double first = factor == 10 ? std::pow(10, std::ceil(std::log10(least))) : least;
        for (double x = first; x <= most; x *= factor) svg += label(px(x), bottom + 20, "middle", short_number(x));
    } else {
        step = nice_step(most - least, 8);
        for (int i = 0; i <= 8; ++i)  // counted, as a step may be too small to change x
            if (double x = (std::ceil(least / step) + i) * step; x <= most)
                svg += label(px(x), bottom + 20, "middle", short_number(x));
    }
    svg += label((left + right) / 2, height - 10, "middle", chart.x_label) + label(8, 18, "start", chart.y_label);
    Names names;
    for (const Chart::Line& line : chart.lines) {
        std::string dotted = "stroke=\"currentColor\" stroke-opacity=\"0.7\" stroke-dasharray=\"2 4\"";
        svg += format("<path d=\"M%g %.1fH%g\" ", left, py(line.y), right) + dotted + "/>\n";
        names.all.push_back({py(line.y), true, dotted, line.name + format(" %.2f", line.y)});
    }
    for (size_t i = 0; i < chart.series.size(); ++i) {
        const Chart::Series& series = chart.series[i];
        if (series.points.size() < 2) continue;
        const char* colour = palette[(series.colour < 0 ? i : size_t(series.colour)) % std::size(palette)];
        std::string path, line = format("stroke=\"%s\" stroke-width=\"2\"", colour);
        if (!series.dash.empty()) line += " stroke-dasharray=\"" + series.dash + "\"";
        for (auto [x, y] : series.points) path += format("%s%.1f %.1f", path.empty() ? "M" : "L", px(x), py(y));
        svg += "<path d=\"" + path + "\" fill=\"none\" " + line + "/>\n";
        auto [x_end, y_end] = series.points.back();
        names.all.push_back({py(y_end), x_end == most, line, series.name});
    }
    return picture(width, height, chart.title, svg + names.draw(right, top, bottom));
}

// A field of squares, each as dark (on white) or bright (on black) as its number is large.
struct HeatMap {
    std::string name;
    std::vector<std::string> rows, columns;
    std::vector<std::vector<double>> values;  // 0 to 1
};

// Side by side where they fit, below each other where not.
inline std::string draw(const std::string& title, const std::vector<HeatMap>& maps) {
    const double width = 900, gap = 30;
    std::string svg;
    double x0 = 0, y0 = 0, lowest = 0;
    for (const HeatMap& map : maps) {
        size_t longest = 1, word = 1;
        for (const std::string& row : map.rows) longest = std::max(longest, row.size());
        for (const std::string& column : map.columns) word = std::max(word, utf8_length(column));
        bool pair = maps.size() > 1 && map.columns.size() <= 40;  // two fit side by side
        double left = 16 + 8 * double(longest);
        double cell = std::clamp(((pair ? width / 2 : width) - left - gap) / double(map.columns.size()), 5.0, 24.0);
        double head = 36 + 8 * double(word);
        double wide = left + cell * double(map.columns.size()) + gap;
        double tall = head + cell * double(map.rows.size()) + gap;
        if (x0 > 0 && x0 + wide > width) x0 = 0, y0 = lowest;
        svg += label(x0 + left, y0 + 14, "start", map.name);
        svg += format("<g font-size=\"%g\">\n", std::min(13.0, std::max(8.0, std::floor(cell))));
        for (size_t j = 0; j < map.columns.size(); ++j) {
            double x = x0 + left + cell * (double(j) + 0.5), y = y0 + head - 8;
            svg += utf8_length(map.columns[j]) > 1  // a word stands upright, so that it does not cover its neighbours
                       ? format("<g transform=\"rotate(-90 %.1f %.1f)\">", x + 4, y) +
                             label(x + 4, y, "start", map.columns[j]) + "</g>\n"
                       : label(x, y, "middle", map.columns[j]);
        }
        for (size_t i = 0; i < map.rows.size(); ++i) {
            double y = y0 + head - 2 + cell * double(i);
            svg += label(x0 + left - 5, y + cell / 2 + 4, "end", map.rows[i]);
            for (size_t j = 0; j < map.values[i].size(); ++j)
                svg += format("<path d=\"M%.1f %.1fh%.1fv%.1fh-%.1fz\" fill=\"#2f7fdf\" fill-opacity=\"%.2f\"/>\n",
                              x0 + left + cell * double(j), y, cell - 0.5, cell - 0.5, cell - 0.5,
                              std::clamp(map.values[i][j], 0.03, 1.0));
        }
        svg += "</g>\n";
        x0 += wide;
        lowest = std::max(lowest, y0 + tall);
    }
    return picture(width, lowest, title, svg);
}

}  // namespace babygpt
