#include "common/train/guesses.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/train/ranks.h"
#include "common/write/sampler.h"

namespace babygpt {

Guesses guess(const PreTrainingModel& model, const MaskedPairs& batch) {
    NoGrad guessing;
    Guesses result;
    auto count = [](const Tensor& logits, const Tokens& labels, size_t& all, size_t& right) {
        size_t V = size_t(logits.size(-1));
        for (size_t i = 0; i < labels.ids.size(); ++i) {
            if (labels.ids[i] == ignore_index) continue;
            ++all, right += argmax(logits.values().subspan(i * V, V)) == labels.ids[i];
        }
    };
    constexpr int most_tokens = 8192;  // at once, however large the batch is
    const int B = batch.input_ids.B, some = std::max(1, most_tokens / batch.input_ids.T);
    for (int first = 0; first < B; first += some) {
        PairsInput rows = cut(batch, first, std::min(first + some, B));
        BertForPreTrainingOutput out = model(rows.input);
        count(out.prediction_logits, rows.labels, result.masked, result.masked_right);
        count(out.seq_relationship_logits, rows.next_sentence_label, result.pairs, result.pairs_right);
    }
    return result;
}

namespace {

std::map<std::string, SlotGuesses> of_all_ranks(const std::map<std::string, SlotGuesses>& mine) {
    if (ranks::count() == 1) return mine;
    nlohmann::json own;
    for (const auto& [kind, guesses] : mine) own[kind] = {guesses.slots, guesses.right};
    std::vector<std::string> parts(size_t(ranks::count()), own.dump());
    ranks::all_gather(parts);
    std::map<std::string, SlotGuesses> all;
    for (const std::string& part : parts) {
        const nlohmann::json theirs = nlohmann::json::parse(part);
        for (const auto& [kind, counts] : theirs.items())
            all[kind].slots += counts[0].get<size_t>(), all[kind].right += counts[1].get<size_t>();
    }
    return all;
}

}  // namespace

std::map<std::string, SlotGuesses> guess_slots(const PreTrainingModel& model, const Sentences& text, size_t most_pairs,
                                               int block_size) {
    std::map<std::string, SlotGuesses> result;
    size_t pairs = text.spans.empty() ? 0 : std::min(most_pairs, text.val.size());
    size_t sentences = text.tokens.size() - size_t(text.val_begins);
    // Pairs, and as many sentences alone for what is in no pair.
    for (size_t i = size_t(ranks::rank()); i < 2 * pairs; i += size_t(ranks::count())) {
        bool alone = i >= pairs;
        const Sentences::Pair& pair = text.val[i % pairs * text.val.size() / pairs];
        int first = alone ? text.val_begins + int(i % pairs * sentences / pairs) : pair.first;
        const std::vector<int>& a = text.tokens[size_t(first)];
        const std::vector<int> b = alone ? std::vector<int>{} : text.tokens[size_t(pair.second)];
        if (joined_length(a, b) > block_size) continue;  // slots would lose their places
        std::vector<PairRow> rows;
        std::vector<std::string> kinds;  // of each row's blank
        auto blank = [&](int sentence, size_t start) {
            for (const Span& span : text.spans[size_t(sentence)]) {
                bool in_pairs = std::ranges::count(paired_kinds, span.kind);
                if (alone == in_pairs) continue;
                PairRow row = join(a, b, text.tokenizer, block_size);
                size_t t = start + span.first + i % span.length;
                row.labels[t] = std::exchange(row.ids[t], text.tokenizer.mask);
                rows.push_back(std::move(row)), kinds.push_back(span.kind);
            }
        };
        blank(first, 1);
        if (!alone) blank(pair.second, a.size() + 2);
        if (rows.empty()) continue;
        NoGrad guessing;
        MaskedPairs batch = stack(rows);
        Tensor logits = model(cut(batch, 0, batch.input_ids.B).input).prediction_logits;  // (B, T, V)
        size_t V = size_t(logits.size(-1));
        for (size_t at = 0; at < batch.labels.ids.size(); ++at) {
            if (batch.labels.ids[at] == ignore_index) continue;
            SlotGuesses& guesses = result[kinds[at / size_t(batch.labels.T)]];
            ++guesses.slots, guesses.right += argmax(logits.values().subspan(at * V, V)) == batch.labels.ids[at];
        }
    }
    return of_all_ranks(result);
}

}  // namespace babygpt
