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

struct Row {  // [CLS] text [SEP], and perhaps a second text and [SEP]
    std::vector<int> ids, types;
    std::vector<size_t> ends;  // of the texts, where their [SEP] stands
};
Row row_of(const Tokenizer& t, const std::vector<std::vector<int>>& texts) {
    Row row{{t.cls}, {0}, {}};
    for (const std::vector<int>& text : texts) {
        row.ids.insert(row.ids.end(), text.begin(), text.end());
        row.ends.push_back(row.ids.size());
        row.ids.push_back(t.sep);
        row.types.resize(row.ids.size(), int(row.ends.size()) - 1);
    }
    return row;
}

BertInput read(const Reader& reader, const Row& row) {
    int T = int(row.ids.size());
    if (T > reader.max_tokens)
        fail("the text is too long: with [CLS] and [SEP] it has ", T, " tokens, the model reads at most ",
             reader.max_tokens);
    return {.input_ids = Tokens(1, T, row.ids), .token_type_ids = Tokens(1, T, row.types)};
}

using Encode = std::vector<int> (Tokenizer::*)(std::string_view, const std::string&) const;
std::vector<std::vector<int>> encoded(const Tokenizer& t, const std::vector<std::string>& texts, Encode encode) {
    std::vector<std::vector<int>> all;
    for (size_t i = 0; i < texts.size(); ++i) {
        const std::string name = texts.size() == 1 ? "text" : i ? "second text" : "first text";
        if (texts[i].empty()) fail("the ", name, " is empty");
        all.push_back((t.*encode)(texts[i], name));
    }
    return all;
}

}  // namespace

Filled fill_blanks(const Reader& reader, const std::vector<std::string>& texts) {
    return fill_masks(reader, encoded(reader.tokenizer, texts, &Tokenizer::encode_blanks));
}

Filled fill_masks(const Reader& reader, const std::vector<std::vector<int>>& texts) {
    const Tokenizer& t = reader.tokenizer;
    Row row = row_of(t, texts);
    std::vector<size_t> blanks;  // where they stand
    for (size_t i = 0; i < row.ids.size(); ++i)
        if (row.ids[i] == t.mask) blanks.push_back(i);
    if (blanks.empty()) fail("there is no blank in the text; write _ for each character to guess");

    NoGrad guessing;
    Filled filled{{}, {}, read(reader, row)};
    for (std::vector<size_t> left = blanks; !left.empty();) {
        Tensor logits = reader.model(read(reader, row)).prediction_logits;  // (1, T, V)
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
        row.ids[surest] = token;
        std::erase(left, surest);
    }
    size_t from = 1;
    for (size_t end : row.ends) {
        filled.texts.push_back(t.decode(std::span(row.ids).subspan(from, end - from)));
        from = end + 1;
    }
    return filled;
}

Follows second_follows(const Reader& reader, const std::string& first, const std::string& second) {
    const Tokenizer& t = reader.tokenizer;
    NoGrad guessing;
    BertInput input = read(reader, row_of(t, encoded(t, {first, second}, &Tokenizer::encode)));
    return {probabilities_at(reader.model(input).seq_relationship_logits, 0)[0], input};
}

}  // namespace babygpt
