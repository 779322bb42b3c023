#include "docs/workshop/write.h"

#include <algorithm>

#include "common/text/utf8.h"
#include "common/write/display.h"
#include "common/write/fill.h"
#include "common/write/sampler.h"
#include "common/write/translator.h"

namespace babygpt::workshop {

namespace {

using Json = nlohmann::json;

constexpr size_t alternatives = 12, shown_next = 24;
constexpr int sample_characters = 160;

std::string character(const Opened& model, int token) { return model.vocabulary().decode({&token, 1}); }

Json likeliest_of(const Opened& model, std::span<const real> logits) {
    std::vector<double> p = probabilities(logits);
    Json list = Json::array();
    for (int id : likeliest(p, alternatives)) list.push_back({character(model, id), p[size_t(id)]});
    return list;
}

// The likeliest next characters: their probabilities, and those that temperature, top-k and top-p leave.
Json next_of(const Opened& model, std::span<const real> logits, const Options& options) {
    std::vector<double> p = probabilities(logits), left(p.size());
    Choices kept = choices(logits, options);
    for (size_t i = 0; i < kept.tokens.size(); ++i)
        left[size_t(kept.tokens[i])] = std::min(kept.weights[i] / kept.total, 1.0);
    double total = 0;
    for (double share : left) total += share;
    Json list = Json::array();
    for (int id : likeliest(p, shown_next))
        list.push_back({character(model, id), p[size_t(id)], left[size_t(id)] / total});
    return list;
}

std::string with_blanks(const std::string& text) {
    std::u32string characters = decode_utf8(text, "the text");
    for (size_t i = 3; i < characters.size(); i += 6) characters[i] = U'_';
    return encode_utf8(characters);
}

}  // namespace

Json write_on(const Opened& model, const std::string& text, const Options& asked, std::optional<uint64_t> random) {
    if (!model.writer) fail(model.options.stage, " does not go on with a text");
    Options options = asked;
    options.prompt = text;
    std::vector<int> tokens = prompt_tokens(model.vocabulary(), options);
    std::string prompt = model.vocabulary().decode(tokens);
    Rng rng(options.seed, "sampling");
    if (random) rng.state = *random;
    NextLogits next = next_logits(*model.writer, model.options.block_size);
    Json written = Json::array();
    generate(next, tokens, model.vocabulary(), options, rng, [&](int token, std::span<const real> logits) {
        written.push_back({{"character", character(model, token)},
                           {"probability", probabilities(logits)[size_t(token)]},
                           {"likely", likeliest_of(model, logits)}});
        return true;
    });
    return {{"prompt", prompt},
            {"written", written},
            {"next", next_of(model, next(tokens), options)},
            {"random", std::to_string(rng.state)}};  // 64 bits are more than a number of JavaScript holds
}

Json fill(const Opened& model, const std::string& text, const std::string& second) {
    if (!model.reader) fail(model.options.stage, " fills no blanks");
    Reader reader{*model.reader, model.tokenizer, model.options.block_size};
    std::vector<std::string> texts{text};
    if (!second.empty()) texts.push_back(second);
    Json answer;
    if ((text + second).find('_') != std::string::npos) {
        Filled filled = fill_blanks(reader, texts);
        Json blanks = Json::array();
        for (const Blank& blank : filled.blanks) {
            Json guesses = Json::array();
            for (const Guess& guess : blank.guesses) guesses.push_back({guess.token, guess.probability});
            blanks.push_back({{"number", blank.number}, {"guesses", guesses}});
        }
        answer = {{"texts", filled.texts}, {"blanks", blanks}};
        texts = filled.texts;
    }
    if (texts.size() == 2) answer["follows"] = second_follows(reader, texts[0], texts[1]).probability;
    if (answer.is_null()) fail("there is no blank in the text; write _ for each character to guess");
    return answer;
}

std::string short_sample(const Opened& model, const std::string& text, std::mutex& computing) {
    if (model.writer) {
        Options options{.seed = model.options.seed, .tokens = sample_characters};
        NextLogits next = next_logits(*model.writer, model.options.block_size);
        auto alone = [&](std::span<const int> context) {
            std::lock_guard computes(computing);
            return next(context);
        };
        return write_text(alone, model.vocabulary(), options);
    }
    std::lock_guard computes(computing);
    if (text.empty()) return "";
    if (model.reader) {
        std::string blanked = with_blanks(text);
        Reader reader{*model.reader, model.tokenizer, model.options.block_size};
        return blanked + "\n" + fill_blanks(reader, {blanked}).texts[0];
    }
    Translator translator{*model.translator, model.tokenizer, model.options.block_size};
    return text + "\n" + translate(translator, {text})[0];
}

}  // namespace babygpt::workshop
