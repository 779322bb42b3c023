#include "common/app/attention_maps.h"

#include <cstdio>

#include "common/base/format.h"
#include "common/text/utf8.h"
#include "common/write/display.h"

namespace babygpt {

namespace {

const char* shade(double weight) {
    return weight >= 1 / 2.0 ? "█" : weight >= 1 / 4.0 ? "▓" : weight >= 1 / 8.0 ? "▒" : weight >= 1 / 16.0 ? "░" : "·";
}

}  // namespace

std::vector<std::string> names_of(const Tokenizer& tokenizer, std::span<const int> ids) {
    std::vector<std::string> names;
    for (int id : ids) names.push_back(visible(tokenizer.tokens[size_t(id)]));
    return names;
}

HeatMap map_of(const std::string& name, const Tensor& attention, int head, const std::vector<std::string>& rows,
               const std::vector<std::string>& columns) {
    HeatMap map{name, rows, columns, {}};
    std::span<const real> weights = attention.values().subspan(size_t(head) * rows.size() * columns.size());
    for (size_t i = 0; i < rows.size(); ++i, weights = weights.subspan(columns.size()))
        map.values.emplace_back(weights.begin(), weights.begin() + std::ptrdiff_t(columns.size()));
    return map;
}

HeatMap mean_map(const std::string& name, const Tensor& attention, const std::vector<std::string>& rows,
                 const std::vector<std::string>& columns) {
    HeatMap mean{name, rows, columns, std::vector(rows.size(), std::vector<double>(columns.size()))};
    for (int head = 0; head < attention.size(1); ++head) {
        HeatMap map = map_of(name, attention, head, rows, columns);
        for (size_t i = 0; i < rows.size(); ++i)
            for (size_t j = 0; j < columns.size(); ++j) mean.values[i][j] += map.values[i][j] / attention.size(1);
    }
    return mean;
}

std::vector<HeatMap> attention_maps(const std::vector<Tensor>& attentions, const std::vector<std::string>& names,
                                    const HeadsByLayer& pruned_heads) {
    std::vector<HeatMap> maps;
    for (int layer = 0; layer < int(attentions.size()); ++layer) {
        const Tensor& of_layer = attentions[size_t(layer)];  // (1, heads, T, T)
        auto pruned = pruned_heads.find(layer);
        for (int place = 0, head = 0; place < of_layer.size(1); ++head)
            if (pruned == pruned_heads.end() || !pruned->second.contains(head))
                maps.push_back(map_of(str("layer ", layer, ", head ", head), of_layer, place++, names, names));
    }
    return maps;
}

void print_map(const HeatMap& map) {
    std::printf("\n%s\n", map.name.c_str());
    std::string heading;
    bool characters = true;
    for (const std::string& column : map.columns)
        heading += column, characters = characters && utf8_length(column) == 1;
    if (characters) std::printf("%8s%s\n", "", heading.c_str());
    for (size_t i = 0; i < map.rows.size(); ++i) {
        std::string line(size_t(std::max(0, 6 - terminal_columns(map.rows[i]))), ' ');
        line += map.rows[i] + "  ";
        for (size_t j = 0; j < map.columns.size(); ++j)
            for (int k = 0; k < (characters ? terminal_columns(map.columns[j]) : 1); ++k)
                line += shade(map.values[i][j]);
        std::printf("%s\n", line.c_str());
    }
}

}  // namespace babygpt
