#include "common/write/fill.h"

#include <algorithm>

#include "common/write/display.h"
#include "common/write/sampler.h"

namespace babygpt {

namespace {

std::vector<double> probabilities_at(const Tensor& logits, size_t row) {
    size_t V = size_t(logits.size(-1));
    std::span<const real> scores = logits.values().subspan(row * V, V);
    check_scores(scores);
    return probabilities(scores);
}

BertInput read(const Reader& reader, const std::vector<int>& ids, const std::vector<int>& types) {
    int T = int(ids.size());
    if (T > reader.max_tokens)
        fail("the text is too long: with [CLS] and [SEP] it has ", T, " tokens, the model reads at most ",
             reader.max_tokens);
    return {.input_ids = Tokens(1, T, ids), .token_type_ids = Tokens(1, T, types)};
}

}  // namespace

Filled fill_blanks(const Reader& reader, const std::vector<std::string>& texts) {
    const Tokenizer& t = reader.tokenizer;
    std::vector<int> ids{t.cls}, types{0};
    std::vector<size_t> blanks, ends;  // where blanks stand, and where each text ends
    for (const std::string& text : texts) {
        for (size_t from = 0, end; from <= text.size(); from = end + 1) {
            end = std::min(text.find('_', from), text.size());
            std::vector<int> piece = t.encode(text.substr(from, end - from), "text");
            ids.insert(ids.end(), piece.begin(), piece.end());
            if (end < text.size()) blanks.push_back(ids.size()), ids.push_back(t.mask);
        }
        ends.push_back(ids.size());
        ids.push_back(t.sep);
        types.resize(ids.size(), int(ends.size()) - 1);
    }
    if (blanks.empty()) fail("there is no blank in the text; write _ for each character to guess");

    NoGrad guessing;
    Filled filled{{}, {}, read(reader, ids, types)};
    for (std::vector<size_t> left = blanks; !left.empty();) {
        Tensor logits = reader.model(read(reader, ids, types)).prediction_logits;  // (1, T, V)
        size_t surest = left[0];
        int token = 0;
        std::vector<double> best;
        for (size_t place : left) {
            std::vector<double> p = probabilities_at(logits, place);
            for (int special : {t.pad, t.unk, t.cls, t.sep, t.mask}) p[size_t(special)] = 0;
            auto likeliest = std::ranges::max_element(p);
            if (!best.empty() && *likeliest <= best[size_t(token)]) continue;
            surest = place, token = int(likeliest - p.begin()), best = p;
        }
        Blank blank{int(std::ranges::find(blanks, surest) - blanks.begin()) + 1, {}};
        for (int id : likeliest(best, 5)) blank.guesses.push_back({t.tokens[size_t(id)], best[size_t(id)]});
        filled.blanks.push_back(blank);
        ids[surest] = token;
        std::erase(left, surest);
    }
    size_t from = 1;
    for (size_t end : ends) {
        filled.texts.push_back(t.decode(std::span(ids).subspan(from, end - from)));
        from = end + 1;
    }
    return filled;
}

Follows second_follows(const Reader& reader, const std::string& first, const std::string& second) {
    const Tokenizer& t = reader.tokenizer;
    std::vector<int> ids{t.cls}, types{0};
    for (int type : {0, 1}) {
        const std::string &text = type ? second : first, name = type ? "second text" : "first text";
        if (text.empty()) fail("the ", name, " is empty");
        std::vector<int> sentence = t.encode(text, name);
        sentence.push_back(t.sep);
        ids.insert(ids.end(), sentence.begin(), sentence.end());
        types.resize(ids.size(), type);
    }
    NoGrad guessing;
    BertInput input = read(reader, ids, types);
    return {probabilities_at(reader.model(input).seq_relationship_logits, 0)[0], input};
}

}  // namespace babygpt
