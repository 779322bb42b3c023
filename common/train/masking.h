// BERT's batches: pairs of sentences as it reads them, with characters taken out for it to guess.
#pragma once
#include "common/nn/bert.h"
#include "common/text/sentences.h"
#include "common/train/objective.h"

namespace babygpt {

struct PairRow {  // of a batch
    std::vector<int> ids, types, labels;
    int follows = 0;
};
// How many tokens two sentences are together, or one without b, with their special ones.
int joined_length(const std::vector<int>& a, const std::vector<int>& b);
// [CLS] a [SEP] b [SEP], or [CLS] a [SEP] where there is no b, with nothing to guess yet. What does not fit loses its
// end, the longer sentence first.
PairRow join(std::vector<int> a, std::vector<int> b, const Tokenizer& tokenizer, int block_size);

// Rows side by side, padded to the longest.
struct MaskedPairs {
    Tokens input_ids, token_type_ids, labels;  // (B, T); labels are ignore_index but where a character was chosen
    Tokens next_sentence_label;                // (B, 1): 0 if b follows a, 1 if it comes from elsewhere; alone: ignored
    std::vector<int> lengths;                  // without the padding
};
MaskedPairs stack(const std::vector<PairRow>& rows);
// Half of the pairs belong together. One row in eight is a sentence alone, of any kind, so that one can be filled too.
MaskedPairs draw_pairs(const Sentences& text, Part part, int B, int block_size, Rng& rng);

// Rows first to last - 1, without the columns in which all of them have padding.
struct PairsInput {
    BertInput input;
    Tokens labels, next_sentence_label;
};
PairsInput cut(const MaskedPairs& pairs, int first, int last);

}  // namespace babygpt
