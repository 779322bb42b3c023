// Bug hunt 13c: the loss is almost 0, and it never says yes.
//
// How stage 13's BERT is trained on pairs of sentences: guess the masked characters, and say whether the second
// sentence follows the first. Where no character is to be guessed the label is [PAD], as nobody ever has to guess that.
//
// The symptom: it trains well. Both losses fall, and that of the pairs faster than anybody hoped: it is almost 0 after
// a few dozen steps. But then it is asked whether one sentence follows another, and it says no, whatever the two are.
// A well-known BERT had this mistake; the sum of the losses looked fine.
//
// Check it: make exercise N=13c
#include <algorithm>
#include <functional>

#include "common/nn/optim.h"
#include "docs/exercises/bert.h"
using namespace babygpt;

constexpr int pad = 0;

struct Pairs {                         // [CLS] a [SEP] b [SEP], one pair a row, padded to the longest
    Tokens input_ids, token_type_ids;  // (B, T)
    std::vector<int> lengths;          // (B): without the padding
    Tokens labels;                     // (B, T): the character that was masked; pad where none was
    Tokens next_sentence_label;        // (B, 1): 0 if b follows a, 1 if it comes from elsewhere
};

struct PreTrainingLosses {
    Tensor masked, follows;  // one number each
};

// Mean of -log(probability of the label), from logits (..., V), over the labels that count.
Tensor mean_loss(const Tensor& logits, Tokens labels) {
    std::ranges::replace(labels.ids, pad, ignore_index);
    return cross_entropy(logits, labels);
}

PreTrainingLosses losses(const PreTrainingModel& model, const Pairs& pairs) {
    BertForPreTrainingOutput out = model({.input_ids = pairs.input_ids,
                                          .token_type_ids = pairs.token_type_ids,
                                          .attention_mask = padding(pairs.lengths, pairs.input_ids.T)});
    return {mean_loss(out.prediction_logits, pairs.labels),
            mean_loss(out.seq_relationship_logits, pairs.next_sentence_label)};
}

void train(PreTrainingModel& model, const std::function<Pairs()>& draw, int steps, double learning_rate) {
    AdamW optimiser(model.parameters);
    for (int step = 0; step < steps; ++step) {
        PreTrainingLosses loss = losses(model, draw());
        (loss.masked + loss.follows).backward();
        optimiser.step(learning_rate);
    }
}
