// A model writes, fills blanks or translates, for the page.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>

#include "docs/workshop/models.h"

namespace babygpt::workshop {

// Goes on with a text by options.tokens characters: the prompt as it was read, each character with its probability and
// what else it could have been, and what may come next. `random` is the state of the stream of chance, to go on with
// it; at first it is that of the sample command.
nlohmann::json write_on(const Opened& model, const std::string& text, const Options& options,
                        std::optional<uint64_t> random);

nlohmann::json fill(const Opened& model, const std::string& text, const std::string& second);

// What a model can do, in short, always the same: it writes, or fills blanks in the text, or translates it. Others may
// compute between its characters.
std::string short_sample(const Opened& model, const std::string& text, std::mutex& computing);

}  // namespace babygpt::workshop
