#include "docs/workshop/answers.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "common/base/format.h"
#include "docs/workshop/write.h"

namespace babygpt::workshop {

namespace {

using Json = nlohmann::json;

constexpr int most_at_once = 64;  // characters written for one question
constexpr int most_padding = 32;

// What a person may choose by slider, in the range that the command line has.
Options options_of(const Json& json) {
    Options options{.seed = json.value("seed", uint64_t(1)),
                    .tokens = std::clamp(json.value("count", 0), 0, most_at_once),
                    .temperature = json.value("temperature", 0.8),
                    .top_k = json.value("top_k", 40),
                    .top_p = json.value("top_p", 0.95)};
    for (const Option& option : option_table())
        if (option.group == Group::writing && option.has(options) && !option.fits(options))
            fail(option.flag(), " has to be ", option.wanted());
    return options;
}

// A number that came as text: it may have more digits than a number of JavaScript.
uint64_t random_of(const std::string& digits) {
    uint64_t number;
    const char* end = digits.data() + digits.size();
    auto [rest, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc() || rest != end) fail("random has to be a whole number, not ", brief(digits));
    return number;
}

}  // namespace

Question question_of(const Json& json) {
    return {json.at("text"), json.value("second", ""), std::clamp(json.value("padding", 0), 0, most_padding)};
}

std::shared_ptr<const Opened> Answers::open(const Json& question) {
    return models.open(runs.file(question.at("run"), question.value("step", -1)));
}

Json Answers::sample(const Json& question) {
    std::string run = question.at("run"), file = runs.file(run, question.value("step", -1)), of = version_of(file);
    std::shared_ptr<const Opened> model = models.open(file);
    std::vector<std::string> texts = model->writer ? std::vector<std::string>{} : runs.texts(run);
    if (texts.empty()) texts = {""};
    of += texts[0];
    {
        std::lock_guard alone(computing);
        if (const Sample& known = samples[file]; known.of == of) return {{"sample", known.text}};
    }
    std::string sample = short_sample(*model, texts[0], computing);
    std::lock_guard alone(computing);
    std::error_code error;
    std::erase_if(samples, [&](const auto& each) { return !std::filesystem::exists(each.first, error); });
    samples[file] = {of, sample};
    return {{"sample", sample}};
}

Json Answers::look(const Json& question) {
    std::shared_ptr<const Opened> model = open(question);
    std::lock_guard alone(computing);
    return workshop::look(*model, question_of(question));
}

Json Answers::row(const Json& q) {
    std::shared_ptr<const Opened> model = open(q);
    std::lock_guard alone(computing);
    return look_at_row(*model, question_of(q), q.value("part", ""), q.at("layer"), q.at("head"), q.at("row"));
}

Json Answers::parts(const Json& question) {
    std::shared_ptr<const Opened> model = open(question);
    std::lock_guard alone(computing);
    return look_at_parts(*model, question_of(question));
}

Json Answers::write(const Json& question) {
    std::shared_ptr<const Opened> model = open(question);
    std::optional<uint64_t> random;
    if (question.contains("random")) random = random_of(question.at("random"));
    std::lock_guard alone(computing);
    return write_on(*model, question.at("text"), options_of(question), random);
}

Json Answers::fill(const Json& question) {
    std::shared_ptr<const Opened> model = open(question);
    std::lock_guard alone(computing);
    return workshop::fill(*model, question.at("text"), question.value("second", ""));
}

}  // namespace babygpt::workshop
