// as shipped: The floor of this text is 0.693 nats
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int V = 5, steps = 200;
    Rng dice(1, "text"), rng(2, "batches"), initialisation(3);
    std::vector<int> text{0};
    while (text.size() < 3000) text.push_back((text.back() + 1 + int(dice.below(2))) % V);  // one or two letters on
    Model model(V, initialisation);
    double loss = train(model, text, steps, rng);
    expect(loss > 0.6,
           str("After ", steps, " steps the loss is ", loss,
               ". The floor of this text is 0.693 nats: each next character ", "is one of two, by the toss of a coin."),
           "Nobody can be that good without seeing the answer. Print x and y of one batch, one above the other.");
    expect(loss < 0.8, str("After ", steps, " steps the loss is ", loss, "; about 0.7 can be reached."),
           "It no longer knows too much, but now it learns nothing. Is y what comes after x, at every place?");
    for (int b = 0; b < 20; ++b) {
        Batch batch = cut_batch(text, 1, 6, rng);
        for (size_t t = 0; t < 6; ++t) {
            int step = (batch.y.ids[t] - batch.x.ids[t] + V) % V;
            bool follows = (step == 1 || step == 2) && (t == 5 || batch.y.ids[t] == batch.x.ids[t + 1]);
            expect(follows, str("x is ", list(batch.x.ids), " and y is ", list(batch.y.ids), "."),
                   "At each place y is the character that comes next in the text.");
        }
    }
    return str("The loss is ", loss, ", and the floor 0.693: it knows what can be known.");
}
