// Lesson 10: what each trained stage remembers. On 60 validation tales, the mean probability that it gives to the right
// first letter where a thing returns.
#include <cmath>
#include <cstdio>
#include <regex>

#include "tests/parity/stages.h"

using namespace babygpt;

struct Slot {
    const char* name;
    std::regex where;  // a group marks the word that returns
};

double probability(std::span<const real> logits, int token) {
    double total = 0;
    for (real z : logits) total += std::exp(double(z - logits[size_t(token)]));
    return 1 / total;
}

int main() {
    return guarded("memory", [] {
        const Slot slots[] = {{"sound", std::regex("\"\\w+ (\\w)")},
                              {"sum", std::regex("(?:, so |, )(\\w)\\w+(?: in all)?\\.")},
                              {"thing", std::regex("at the \\w+ was the (\\w)|The (\\w)\\w+ \\w+ was in")},
                              {"box", std::regex("In the (\\w)|was in the (\\w)")},
                              {"place", std::regex("In the \\w+ at the (\\w)|was in the \\w+ at the (\\w)")},
                              {"name", std::regex("(\\w)\\w* was \\w+\\.$|said (\\w)\\w*\\.$")}};
        Corpus corpus = load_corpus("tales");
        std::string text = corpus.vocabulary.decode(corpus.val);  // the tales are ASCII: a character is a byte
        std::printf("%-14s", "stage");
        for (const Slot& slot : slots) std::printf(" %6s", slot.name);
        std::printf("\n");
        for (const auto& [stage, make_model] : stages) {
            if (stage > "11") break;  // Part II
            std::string file = "runs/" + stage + "/model.safetensors";
            SavedModel saved = load_model(file, {.stage = stage});
            Rng unused(0);
            auto model = make_model(saved.options, saved.vocabulary.size(), unused);
            restore(model->parameters, saved.checkpoint, "", file);
            NextLogits next = next_logits(*model, saved.options.block_size);
            std::printf("%-14s", stage.c_str());
            for (const Slot& slot : slots) {
                double sum = 0;
                int found = 0;
                size_t begin = text.find("\n\n", 300) + 2;  // with some text before it
                for (int tale = 0; tale < 60; ++tale) {
                    size_t end = text.find("\n\n", begin);
                    std::string line = text.substr(begin, end - begin);
                    std::smatch match;
                    if (!std::regex_search(line, match, slot.where)) fail("no ", slot.name, " in: ", line);
                    size_t at = begin + size_t(match.position(match[1].matched ? 1 : 2));
                    std::span<const int> context(corpus.val.data(), at);
                    sum += probability(next(context), corpus.val[at]);
                    ++found;
                    begin = end + 2;
                }
                std::printf(" %6.2f", sum / found);
            }
            std::printf("\n");
        }
    });
}
