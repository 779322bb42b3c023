// Lesson 10: the places of a tale where something returns, and how probable a model finds the right first letter there.
#pragma once
#include <cmath>
#include <regex>

#include "common/babygpt.h"

namespace babygpt {

struct Slot {
    const char* name;
    std::regex where;  // a group marks the word that returns
};

inline const std::vector<Slot>& slots() {
    static const std::vector<Slot> all{{"sound", std::regex("\"\\w+ (\\w)")},
                                       {"sum", std::regex("(?:, so |, )(\\w)\\w+(?: in all)?\\.")},
                                       {"thing", std::regex("at the \\w+ was the (\\w)|The (\\w)\\w+ \\w+ was in")},
                                       {"box", std::regex("In the (\\w)|was in the (\\w)")},
                                       {"place", std::regex("In the \\w+ at the (\\w)|was in the \\w+ at the (\\w)")},
                                       {"name", std::regex("(\\w)\\w* was \\w+\\.$|said (\\w)\\w*\\.$")}};
    return all;
}

inline double probability(std::span<const real> logits, int token) {
    double total = 0;
    for (real z : logits) total += std::exp(double(z - logits[size_t(token)]));
    return 1 / total;
}

// The mean over 60 validation tales.
inline double remembered(const Slot& slot, const NextLogits& next, const Corpus& corpus) {
    std::string text = corpus.vocabulary.decode(corpus.val);  // the tales are ASCII: a character is a byte
    constexpr int tales = 60;
    double sum = 0;
    size_t begin = text.find("\n\n", 300) + 2;  // with some text before it
    for (int tale = 0; tale < tales; ++tale) {
        size_t end = text.find("\n\n", begin);
        std::string line = text.substr(begin, end - begin);
        std::smatch match;
        if (!std::regex_search(line, match, slot.where)) fail("no ", slot.name, " in: ", line);
        size_t at = begin + size_t(match.position(match[1].matched ? 1 : 2));
        sum += probability(next(std::span<const int>(corpus.val.data(), at)), corpus.val[at]);
        begin = end + 2;
    }
    return sum / tales;
}

}  // namespace babygpt
