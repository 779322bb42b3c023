#include "common/write/translator.h"

#include <algorithm>
#include <cmath>

#include "common/text/batches.h"
#include "common/write/sampler.h"

namespace babygpt {

namespace {

// The likeliest token of those that a translation can go on with: a character, or [SEP], which ends it.
int best_next(std::span<const real> logits, const Tokenizer& t) {
    check_scores(logits);
    std::vector<real> scores(logits.begin(), logits.end());
    for (int special : {t.pad, t.unk, t.cls, t.mask}) scores[size_t(special)] = -INFINITY;
    return argmax(scores);
}

Tokens columns_from(const std::vector<std::vector<int>>& rows, size_t first) {
    std::vector<int> ids;
    for (const std::vector<int>& row : rows) ids.insert(ids.end(), row.begin() + std::ptrdiff_t(first), row.end());
    return Tokens(int(rows.size()), int(rows[0].size() - first), ids);
}

}  // namespace

std::vector<int> encoder_tokens(const Translator& translator, const std::string& text) {
    const Tokenizer& t = translator.tokenizer;
    std::vector<int> ids = t.encode(text, "text");
    ids.insert(ids.begin(), t.cls), ids.push_back(t.sep);
    if (int(ids.size()) > translator.max_tokens)
        fail("the text is too long: it has ", ids.size() - 2, " characters, the model reads at most ",
             translator.max_tokens - 2);
    return ids;
}

//> translate
std::vector<std::string> translate(const Translator& translator, const std::vector<std::string>& texts,
                                   bool use_cache) {
    NoGrad translating;
    const auto& [model, t, max_tokens] = translator;
    std::vector<std::vector<int>> rows, written;
    for (const std::string& text : texts) {
        rows.push_back(encoder_tokens(translator, text));
        written.push_back({text.empty() ? t.sep : t.cls});  // an empty one ends at once
    }
    PaddedRows read = pad_rows(rows, t.pad);
    Mask seen = padding(read.lengths, read.ids.T);
    Tensor states = model.encode({.input_ids = read.ids, .attention_mask = seen});  // (B, S, C)

    std::vector<PastKeyValue> past;
    auto ended = [&](const std::vector<int>& row) { return row.back() == t.sep; };
    while (!std::ranges::all_of(written, ended) && int(written[0].size()) < max_tokens) {
        Tensor logits = model.decode({.input_ids = columns_from(written, use_cache ? written[0].size() - 1 : 0),
                                      .encoder_hidden_states = states,
                                      .encoder_attention_mask = seen,
                                      .past_key_values = use_cache ? &past : nullptr});  // (B, new, V)
        size_t V = size_t(logits.size(-1)), row_size = size_t(logits.size(1)) * V;
        for (size_t b = 0; b < written.size(); ++b)  // who has ended repeats [SEP] until all have
            written[b].push_back(ended(written[b]) ? t.sep
                                                   : best_next(logits.values().subspan((b + 1) * row_size - V, V), t));
    }
    std::vector<std::string> translations;
    for (const std::vector<int>& row : written) {
        auto first = row.begin() + 1, end = std::find(first, row.end(), t.sep);
        translations.push_back(t.decode({first, end}));
    }
    return translations;
}
//< translate

DecoderTokens decoder_tokens(const Translator& translator, const std::string& translation) {
    const Tokenizer& t = translator.tokenizer;
    std::vector<int> written = t.encode(translation, "translation"), before = written;
    before.insert(before.begin(), t.cls);
    if (int(before.size()) < translator.max_tokens)
        written.push_back(t.sep);
    else
        before.pop_back();  // it never ended
    return {before, written};
}

Alignment align(const Translator& translator, const std::string& text, const std::string& translation) {
    NoGrad looking;
    const auto [before, written] = decoder_tokens(translator, translation);
    Alignment result{encoder_tokens(translator, text), written, {}};
    Tensor states = translator.model.encode({.input_ids = Tokens(1, int(result.read.size()), result.read)});
    translator.model.decode({.input_ids = Tokens(1, int(before.size()), before),
                             .encoder_hidden_states = states,
                             .cross_attentions = &result.cross_attentions});
    return result;
}

}  // namespace babygpt
