#include "common/train/masking.h"

#include <algorithm>

namespace babygpt {

namespace {

//> masking
// Chooses 15 % of the characters to be guessed, never a special token. Of these 80 % become [MASK], 10 % any character,
// and 10 % stay as they are, so that no place can be taken on trust. Returns the label: what stood there, if it counts.
int mask(int& id, const CharacterTokenizer& tokenizer, Rng& rng) {
    bool special = id <= tokenizer.mask;
    if (special || rng.uniform() >= 0.15) return ignore_index;
    int label = id, first = tokenizer.mask + 1;
    double die = rng.uniform();
    if (die < 0.8)
        id = tokenizer.mask;
    else if (die < 0.9)
        id = first + int(rng.below(size_t(tokenizer.size() - first)));
    return label;
}
//< masking

// Whether what stands second here can be a stranger there.
bool is_from_elsewhere(const Sentences::Pair& here, const Sentences::Pair& there) {
    return here.document != there.document && here.place == there.place && here.second != there.first;
}

}  // namespace

int joined_length(const std::vector<int>& a, const std::vector<int>& b) {
    return int(a.size() + b.size()) + (b.empty() ? 2 : 3);
}

PairRow join(std::vector<int> a, std::vector<int> b, const Tokenizer& t, int block_size) {
    while (joined_length(a, b) > block_size) (a.size() > b.size() ? a : b).pop_back();
    PairRow row{{t.cls}, {0}, {}};
    for (const std::vector<int>* sentence : {&a, &b}) {
        if (sentence->empty()) continue;
        row.ids.insert(row.ids.end(), sentence->begin(), sentence->end());
        row.ids.push_back(t.sep);
        row.types.resize(row.ids.size(), sentence == &b);
    }
    row.labels.resize(row.ids.size(), ignore_index);
    return row;
}

MaskedPairs stack(const std::vector<PairRow>& rows) {
    int B = int(rows.size()), T = 0;
    for (const PairRow& row : rows) T = std::max(T, int(row.ids.size()));
    Tokens none(B, T, std::vector<int>(size_t(B) * size_t(T), ignore_index));
    MaskedPairs batch{Tokens(B, T), Tokens(B, T), none, Tokens(B, 1), {}};
    for (size_t b = 0; b < rows.size(); ++b) {
        std::ptrdiff_t start = std::ptrdiff_t(b) * T;
        std::ranges::copy(rows[b].ids, batch.input_ids.ids.begin() + start);
        std::ranges::copy(rows[b].types, batch.token_type_ids.ids.begin() + start);
        std::ranges::copy(rows[b].labels, batch.labels.ids.begin() + start);
        batch.next_sentence_label.ids[b] = rows[b].follows;
        batch.lengths.push_back(int(rows[b].ids.size()));
    }
    return batch;
}

MaskedPairs draw_pairs(const Sentences& text, Part part, int B, int block_size, Rng& rng) {
    const std::vector<Sentences::Pair>& pairs = part == Part::train ? text.train : text.val;
    size_t begin = part == Part::train ? 0 : size_t(text.val_begins),
           end = part == Part::train ? size_t(text.val_begins) : text.tokens.size();
    std::vector<PairRow> rows;
    for (int i = 0; i < B; ++i) {
        std::vector<int> a, b;
        int label = ignore_index;
        if (rng.below(8) == 0) {  // one sentence alone, of any kind
            a = text.tokens[begin + rng.below(end - begin)];
        } else {
            const Sentences::Pair& pair = pairs[rng.below(pairs.size())];
            const Sentences::Pair* second = &pair;
            label = int(rng.below(2));  // 0: b belongs to a; 1: it comes from elsewhere
            while (label == 1 && !is_from_elsewhere(*second, pair)) second = &pairs[rng.below(pairs.size())];
            a = text.tokens[size_t(pair.first)], b = text.tokens[size_t(second->second)];
        }
        PairRow row = join(a, b, text.tokenizer, block_size);
        for (size_t t = 0; t < row.ids.size(); ++t) row.labels[t] = mask(row.ids[t], text.tokenizer, rng);
        row.follows = label;
        rows.push_back(std::move(row));
    }
    return stack(rows);
}

PairsInput cut(const MaskedPairs& p, int first, int last) {
    std::vector<int> lengths(p.lengths.begin() + first, p.lengths.begin() + last);
    int T = *std::ranges::max_element(lengths), B = last - first;
    auto part = [&](const Tokens& all, int columns) {
        Tokens some(B, columns);
        for (int b = 0; b < B; ++b)
            std::copy_n(all.ids.begin() + std::ptrdiff_t(first + b) * all.T, columns,
                        some.ids.begin() + std::ptrdiff_t(b) * columns);
        return some;
    };
    return {{.input_ids = part(p.input_ids, T),
             .token_type_ids = part(p.token_type_ids, T),
             .attention_mask = padding(lengths, T)},
            part(p.labels, T),
            part(p.next_sentence_label, 1)};
}

}  // namespace babygpt
