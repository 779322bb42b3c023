// Lesson 10: what each trained stage remembers.
#include <cstdio>

#include "docs/lessons/programs/slots.h"
#include "docs/workshop/stages.h"

using namespace babygpt;

int main() {
    return guarded("memory", [] {
        Corpus corpus = load_corpus("tales");
        std::printf("%-14s", "stage");
        for (const Slot& slot : slots()) std::printf(" %6s", slot.name);
        std::printf("\n");
        for (const auto& [stage, make_model] : stages) {
            if (stage > "10_gpt") break;  // those that led to it
            std::string file = "runs/" + stage + "/model.safetensors";
            SavedModel saved = load_model(file, {.stage = stage});
            auto model = make_from(saved.checkpoint, file, make_model, saved.options, saved.vocabulary.size());
            NextLogits next = next_logits(*model, saved.options.block_size);
            std::printf("%-14s", stage.c_str());
            for (const Slot& slot : slots()) std::printf(" %6.2f", remembered(slot, next, corpus));
            std::printf("\n");
        }
    });
}
