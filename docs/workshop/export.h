// A run to keep: one HTML file that works without the workshop, from a double click.
#pragma once
#include "docs/workshop/answers.h"

namespace babygpt::workshop {

// The page with all it loads, a run's curve and samples, and its attention on some texts at every snapshot. Without
// texts, on some of those that the run did not learn from.
std::string export_page(Answers& answers, const std::string& run, std::vector<Question> texts, const std::string& page,
                        const std::string& packages);

}  // namespace babygpt::workshop
