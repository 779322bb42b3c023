// as shipped: 0 % of the characters are chosen, expected about 15 %
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string percent(double share) { return str(std::round(1000 * share) / 10, " %"); }

std::string check() {
    const int rows = 3000, V = 25;
    const size_t a = 9, b = 8, T = a + b + 6;  // [CLS] a [SEP] b [SEP] [PAD] [PAD] [PAD]
    const std::vector<std::string> name{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    Rng rng(1, "masking"), letters(2, "text");
    double characters[2] = {}, chosen[2] = {};  // in the first sentence, and in the second
    double hidden = 0, changed = 0;
    std::vector<int> replaced;  // what the changed ones became
    std::vector<bool> first;    // where the first row has labels
    bool differ = false;        // whether any row has them elsewhere
    for (int row = 0; row < rows; ++row) {
        std::vector<int> before(T, 0);
        before[0] = 2, before[a + 1] = before[a + b + 2] = 3;
        for (size_t t = 1; t < a + b + 2; ++t)
            if (t != a + 1) before[t] = 5 + int(letters.below(V - 5));
        before[4] = 1;  // a character that is not in the vocabulary
        std::vector<int> ids = before, labels = mask_tokens(ids, V, rng);
        expect(ids.size() == T && labels.size() == T,
               str("A row of ", T, " tokens became ", ids.size(), " tokens and ", labels.size(), " labels."),
               "There is a label for each token, and no token comes or goes.");
        std::vector<bool> places(T);
        for (size_t t = 0; t < T; ++t) places[t] = labels[t] != ignore_index;
        if (row == 0) first = places;
        differ |= places != first;
        for (size_t t = 0; t < T; ++t) {
            const int was = before[t], label = labels[t], id = ids[t];
            std::string place = str("At place ", t, " stood ", was < 5 ? name[size_t(was)] : str("character ", was));
            if (was < 5)
                expect(id == was && label == ignore_index,
                       str(place, ". It became ", id, " with the label ", label, ", expected no change and ",
                           ignore_index, "."),
                       "Special tokens, padding among them, are never chosen: there is nothing to learn from them.");
            else if (label == ignore_index)
                expect(id == was, str(place, ". It became ", id, " but has no label."),
                       "What was not chosen stays as it is; what was chosen has a label, whatever becomes of it.");
            else
                expect(label == was, str(place, ". Its label is ", label, ", expected ", was, "."),
                       label == id ? "The label is what stood there before. Keep it before you change ids[t]."
                                   : "The label is what stood there.");
            if (was < 5) continue;
            ++characters[t > a];
            if (label == ignore_index) continue;
            ++chosen[t > a];
            if (id == 4) ++hidden;
            if (id == 4 || id == was) continue;
            ++changed, replaced.push_back(id);
        }
    }

    for (int part : {0, 1}) {
        double share = chosen[part] / characters[part];
        std::string hint = "A throw for each character: it is chosen where rng.uniform() < 0.15.";
        if (std::abs(share - 0.15 * 0.9) < 0.006 && changed + hidden == chosen[0] + chosen[1])
            hint = "The 10 % that stay as they are have no label. They are to be guessed as well.";
        if (share > 0 && !differ)
            hint = "Every call chooses the same places. Take the throws from the rng that is passed in: it goes on.";
        if (share > 0.99) hint = "Every character has a label. Only what was chosen is to be guessed.";
        expect(std::abs(share - 0.15) < 0.01,
               str(percent(share), " of the characters are chosen, expected about 15 %", part ? " in b, too." : "."),
               hint);
    }
    const double all = chosen[0] + chosen[1], masked = hidden / all, other = changed / all;
    std::string hint = "Throw once more for what was chosen: below 0.8 is [MASK], from there to 0.9 a character.";
    if (masked == 1)
        hint += " Is it the first throw again? Where something is chosen that one is below 0.15, so below 0.8 as well.";
    expect(std::abs(masked - 0.8) < 0.025,
           str("Of what is chosen ", percent(masked), " became [MASK], expected about 80 %."), hint);

    auto special = std::ranges::find_if(replaced, [](int id) { return id < 5; });
    if (special != replaced.end())
        wrong(str("A character was replaced by ", *special < 0 ? str(*special) : name[size_t(*special)], "."),
              "Any character may take its place, not any token: there are V - 5 of them, and the first is 5.");
    auto beyond = std::ranges::find_if(replaced, [](int id) { return id >= V; });
    if (beyond != replaced.end())
        wrong(str("A character was replaced by ", *beyond, ", but V is ", V, "."),
              "The last character is V - 1: draw below V - 5, then add 5.");
    hint = "Of what is chosen 10 % become any character; a few of them by chance the one that stood there.";
    if (std::abs(other - 0.02) < 0.01)
        hint = "A new throw that is below 0.1 takes 10 % of the 20 % that are left. Half of them are wanted.";
    if (other > 0.17) hint = "Nothing stays as it is: 10 % should, so that no place can be taken on trust.";
    if (changed == 0) hint = "Nothing is replaced by a character. Can your condition for it be true after the others?";
    expect(std::abs(other - 0.1 * (V - 6) / (V - 5)) < 0.015,
           str("Of what is chosen ", percent(other), " became another character, expected nearly 10 %."), hint);
    for (int id = 5; id < V; ++id)
        expect(std::ranges::count(replaced, id) > 0,
               str("Of ", replaced.size(), " replacements none is character ", id, ", of 5 to ", V - 1, "."),
               "Each character should be as likely as the others.");
    return str(percent(all / (characters[0] + characters[1])), " chosen, of these ", percent(masked), " [MASK] and ",
               percent(other), " changed; the labels are what stood there.");
}
