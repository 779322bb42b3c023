// as shipped: but of 100 pairs that follow it says so of 0
#include "common/base/format.h"
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

// A sentence is an opening and one letter, repeated. A tale's second sentence opens in another way than its first one;
// a second sentence from elsewhere is the first one of another tale.
constexpr int cls = 2, sep = 3, mask_id = 4, opening = 5, letter = 7, V = 13;

Pairs draw_pairs(int B, Rng& rng) {
    const int T = 13;
    Pairs pairs{Tokens(B, T), Tokens(B, T), {}, Tokens(B, T), Tokens(B, 1)};
    for (int b = 0; b < B; ++b) {
        int follows = b % 2, place = 0;
        auto put = [&](int id, int type) {
            size_t at = size_t(b * T + place++);
            bool masked = id >= letter && rng.uniform() < 0.15;
            pairs.input_ids.ids[at] = masked ? mask_id : id;
            pairs.token_type_ids.ids[at] = type;
            pairs.labels.ids[at] = masked ? id : 0;
        };
        put(cls, 0);
        for (int type : {0, 1}) {
            put(type == 1 && follows == 0 ? opening + 1 : opening, type);
            int repeated = letter + int(rng.below(V - letter)), times = 2 + int(rng.below(3));
            for (int i = 0; i < times; ++i) put(repeated, type);
            put(sep, type);
        }
        pairs.lengths.push_back(place);
        pairs.next_sentence_label.ids[size_t(b)] = follows;
    }
    return pairs;
}

BertForPreTrainingOutput ask(const PreTrainingModel& model, const Pairs& pairs) {
    return model({.input_ids = pairs.input_ids,
                  .token_type_ids = pairs.token_type_ids,
                  .attention_mask = padding(pairs.lengths, pairs.input_ids.T)});
}

std::string check() {
    const int steps = 150, each = 100;
    BertConfig config{.vocab_size = V,
                      .hidden_size = 16,
                      .num_hidden_layers = 1,
                      .num_attention_heads = 2,
                      .intermediate_size = 32,
                      .max_position_embeddings = 13,
                      .initializer_range = 0.1};
    Rng initialisation(1), batches(2, "batches"), unseen(3, "unseen");
    bert::Model model(config, initialisation);
    train(
        model, [&] { return draw_pairs(16, batches); }, steps, 1e-2);

    NoGrad asking;
    Pairs pairs = draw_pairs(2 * each, unseen);
    BertForPreTrainingOutput out = ask(model, pairs);
    int says_so[2] = {};  // that it follows: of pairs that do, and of pairs that do not
    for (int b = 0; b < 2 * each; ++b) {
        std::span<const real> logits = std::as_const(out.seq_relationship_logits).values().subspan(size_t(2 * b), 2);
        says_so[b % 2] += logits[0] > logits[1];
    }
    PreTrainingLosses found = losses(model, pairs);
    expect(
        says_so[0] > 0.8 * each,
        format("After %d steps the losses are %.3f and %.3f, but of %d pairs that follow it says so of %d, and of %d "
               "that do not of %d.",
               steps, double(found.masked.item()), double(found.follows.item()), each, says_so[0], each, says_so[1]),
        "Half of its answers are wrong, and the loss of the pairs does not know of it. Print how many labels count in "
        "each of the two losses.");
    expect(says_so[1] < 0.2 * each,
           str("Of ", each, " pairs that do not follow it says of ", says_so[1], " that they do."),
           "All pairs count in the second loss, those that follow and those that do not.");

    Tokens characters = pairs.labels;
    std::ranges::replace(characters.ids, 0, ignore_index);
    expect_same("losses(model, pairs).follows", found.follows.item(),
                cross_entropy(out.seq_relationship_logits, pairs.next_sentence_label).item(),
                "It should be the mean over all pairs.");
    expect_same("losses(model, pairs).masked", found.masked.item(),
                cross_entropy(out.prediction_logits, characters).item(),
                "The mean over the masked characters and no others.",
                {{"All places count now, padding and all. Where no character was masked there is nothing to guess.",
                  cross_entropy(out.prediction_logits, pairs.labels).item()}});
    return str("Both losses hear of all they should: of ", each, " pairs that follow it says so of ", says_so[0],
               ", and of ", each, " that do not of ", says_so[1], ".");
}
