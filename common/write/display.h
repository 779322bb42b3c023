// What a person sees of a model that writes: each character, and how surprised the model was by it.
#pragma once
#include "common/base/options.h"
#include "common/tensor/real.h"
#include "common/text/vocabulary.h"

namespace babygpt {

void print(const std::string& text);  // to standard output, NULs and all

std::vector<double> probabilities(std::span<const real> logits);
std::vector<int> likeliest(const std::vector<double>& probabilities, size_t most);  // the most likely one first

// A token among others: a space or a control character by a sign of its own.
std::string visible(const std::string& token);

// A character by a sign if it is a control character, padded to `width` columns, of which a Chinese one takes two.
std::string shown(char32_t character, int width = 0);

// Shows one character as options.show asks: plain, coloured by the model's surprise, or beside the likeliest ones.
class Display {
  public:
    Display(const Vocabulary& vocabulary, const Options& options);
    void operator()(int token, std::span<const real> logits) const;

  private:
    void show_surprise(char32_t character, double nats) const;
    void show_choices(char32_t character, double nats, const std::vector<double>& p) const;

    const Vocabulary& vocabulary;
    std::string show;
    bool colours;
};

}  // namespace babygpt
