// What a loss means: every loss is printed beside these lines, the ruler of the course.
#pragma once
#include "common/text/corpus.h"

namespace babygpt {

// In nats per character of the corpus's validation part.
struct Baselines {
    double uniform;               // knowing nothing: ln V
    double unigram;               // knowing how frequent each character is in the training part
    double bigram;                // knowing which character came before
    std::optional<double> floor;  // knowing all that can be known: the built-in grammars know their entropy

    std::string describe(double loss) const;  // "below the bigram line, 0.62 above the floor"
};

Baselines measure_baselines(const Corpus& corpus);

// Knowing how frequent each of V tokens is in a text. Each counts as if it had been seen once more: none is impossible.
class Unigram {
  public:
    Unigram(std::span<const int> text, int V);
    double probability(int token) const;
    double loss(std::span<const int> tokens) const;  // the mean, in nats

  private:
    std::vector<double> seen;
    double total;
};

}  // namespace babygpt
