#include "docs/workshop/export.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/base/files.h"
#include "docs/workshop/base64.h"

namespace babygpt::workshop {

namespace {

using Json = nlohmann::json;

// "/packages/..." is one of the packages, every other path one of the page's own files.
std::string file_of(const std::string& url, const std::string& page, const std::string& packages) {
    const std::string of_packages = "/packages/";
    return read_file(url.starts_with(of_packages) ? packages + "/" + url.substr(of_packages.size()) : page + url);
}

// Every piece of the text between two marks becomes what f makes of it, and the marks go.
template <class F>
void replace_between(std::string& text, const std::string& opening, const std::string& closing, F f) {
    for (size_t from = 0; (from = text.find(opening, from)) != text.npos;) {
        size_t inner = from + opening.size(), to = text.find(closing, inner);
        if (to == text.npos) fail("the page has ", opening, " without its end");
        std::string by = f(text.substr(inner, to - inner));
        text.replace(from, to + closing.size() - from, by);
        from += by.size();
    }
}

// The steps of snapshots for which there is room, spread evenly, with the first and the last.
std::vector<int> some_of(const std::vector<int>& steps) {
    constexpr size_t most = 50;
    if (steps.size() <= most) return steps;
    std::vector<int> some;
    for (size_t i = 0; i < most; ++i) some.push_back(steps[i * (steps.size() - 1) / (most - 1)]);
    return some;
}

// All that the page asks while one looks at this run. Rows step by step are kept at one step, that of the best model.
Json kept_answers(Answers& answers, const std::string& run, const std::vector<Question>& texts) {
    Json about = answers.runs.describe(run);
    if (about["state"] == "damaged") fail(run, " is damaged: ", about["problem"].get<std::string>());
    std::vector<int> steps = some_of(about["snapshots"]);
    about["snapshots"] = steps;  // those that the slider has
    Json kept = {{"runs", {about}}, {"texts", Json::array()}, {"samples", Json::object()}, {"looks", Json::object()}};
    for (const Question& each : texts) kept["texts"].push_back(each.text);
    if (about["writes"])
        for (int step : steps) kept["samples"][std::to_string(step)] = answers.sample({{"run", run}, {"step", step}});
    if (about["looks"]) {
        if (steps.empty()) steps.push_back(-1);
        int best = about["best"]["step"];
        int step = *std::ranges::min_element(steps, {}, [&](int s) { return std::abs(s - best); });
        for (const auto& [text, second, padding] : texts) {
            Json question = {{"run", run}, {"step", step}, {"text", text}, {"second", second}, {"padding", padding}};
            kept["parts"][text] = {{"step", step}, {"heads", answers.parts(question)}};
            for (int s : steps) {
                question["step"] = s;
                kept["looks"][text][std::to_string(s)] = answers.look(question);
            }
        }
    }
    return kept;
}

}  // namespace

std::string export_page(Answers& answers, const std::string& run, std::vector<Question> texts, const std::string& page,
                        const std::string& packages) {
    constexpr size_t most_texts = 2;
    answers.runs.path(run);  // fails if there is none
    if (texts.empty() && answers.runs.describe(run).value("looks", false)) {
        for (const std::string& text : answers.runs.texts(run))
            if (texts.size() < most_texts) texts.push_back({text});
    }
    std::string html = read_file(page + "/index.html");
    replace_between(html, "<link rel=\"stylesheet\" href=\"", "\">",
                    [&](const std::string& url) { return "<style>" + file_of(url, page, packages) + "</style>"; });
    replace_between(html, "<script type=\"importmap\">", "</script>", [&](const std::string& map) {
        Json modules = Json::parse(map);
        for (auto& [name, url] : modules["imports"].items())
            url = "data:text/javascript;base64," + base64(file_of(url, page, packages));
        return "<script type=\"importmap\">" + modules.dump() + "</script>";
    });
    std::string data = kept_answers(answers, run, texts).dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string safe;  // nothing in it looks like the end of the script
    for (char c : data) c == '<' ? safe += "\\u003c" : safe += c;
    html.insert(html.find("</head>"), "<script type=\"application/json\" id=\"kept\">" + safe + "</script>\n");
    return html;
}

}  // namespace babygpt::workshop
