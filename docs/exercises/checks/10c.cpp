// as shipped: the same prompt at temperature 0, but text 1 differs from text 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int V = 6;
    Options o{.batch_size = 8,
              .block_size = 8,
              .n_embd = 16,
              .n_head = 2,
              .dropout = 0.3,
              .steps = 40,
              .learning_rate = 1e-2,
              .tokens = 40,
              .count = 6};
    Rng initialisation(1), noise(2, "dropout"), dice(3, "text");
    const Rng start = noise;
    Model model(o, V, initialisation);
    std::vector<int> text{0};
    while (text.size() < 2000) text.push_back((text.back() + 1 + int(dice.below(3))) % V);
    std::vector<std::vector<int>> texts = train_and_write(model, text, o, {0, 1}, noise);

    expect(texts.size() == size_t(o.count), str("It wrote ", texts.size(), " texts, expected ", o.count, "."),
           "o.count says how many.");
    for (size_t i = 1; i < texts.size(); ++i) {
        if (texts[i] == texts[0]) continue;
        size_t at = size_t(std::ranges::mismatch(texts[0], texts[i]).in1 - texts[0].begin());
        wrong(str(o.count, " texts from the same prompt at temperature 0, but text ", i,
                  " differs from text 0 at character ", at, "."),
              "The weights are the same and there are no dice in write(). What else is random in this model, and until "
              "when is it on?");
    }
    int throws = 0;  // how many keys of dropout masks were drawn
    for (Rng again = start; again.state != noise.state && throws < 100000; ++throws) again.next();
    expect(throws >= o.steps && model.dropout.p == o.dropout,
           str("The texts are equal, but dropout drew ", throws, " times in ", o.steps, " steps of training."),
           "Dropout belongs on in training, and off in writing.");
    return "Dropout is on in training and off in writing: the same prompt gives the same text.";
}
