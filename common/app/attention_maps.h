// Where attention looks, as maps to print and to draw.
#pragma once
#include "common/draw/svg.h"
#include "common/nn/bert_config.h"
#include "common/tensor/tensor.h"
#include "common/text/tokenizer.h"

namespace babygpt {

std::vector<std::string> names_of(const Tokenizer& tokenizer, std::span<const int> ids);

// The map of one head, a row for each place that looks; or of all heads of a layer, their mean.
HeatMap map_of(const std::string& name, const Tensor& attention, int head, const std::vector<std::string>& rows,
               const std::vector<std::string>& columns);
HeatMap mean_map(const std::string& name, const Tensor& attention, const std::vector<std::string>& rows,
                 const std::vector<std::string>& columns);

// One map for each head that is left, by the number it had at first.
std::vector<HeatMap> attention_maps(const std::vector<Tensor>& attentions, const std::vector<std::string>& names,
                                    const HeadsByLayer& pruned_heads);

// To standard output, in shades of grey: from a 16th on, each is for twice the weight of the one before. Above them
// stand the columns' names where each is a character.
void print_map(const HeatMap& map);

}  // namespace babygpt
