// How often a BERT guesses right: characters that were taken out, whether a sentence follows, and slots of a tale.
#pragma once
#include <map>

#include "common/train/masking.h"

namespace babygpt {

struct Guesses {  // how many of how many were right
    size_t masked = 0, masked_right = 0, pairs = 0, pairs_right = 0;
    double masked_accuracy() const { return share(masked_right, masked); }
    double follows_accuracy() const { return share(pairs_right, pairs); }
    static double share(size_t right, size_t all) { return all ? double(right) / double(all) : 0; }
};
Guesses guess(const PreTrainingModel& model, const MaskedPairs& batch);

// Names, things, places and so on of validation pairs that belong together, and what is in no pair of as many sentences
// alone; one character of each masked alone: by kind, how many there were and how many were guessed.
struct SlotGuesses {
    size_t slots = 0, right = 0;
};
std::map<std::string, SlotGuesses> guess_slots(const PreTrainingModel& model, const Sentences& text, size_t most_pairs,
                                               int block_size);

}  // namespace babygpt
