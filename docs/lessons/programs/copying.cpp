// Lesson 10: when each kind of memory is learnt. Trains as runs/10_gpt was trained, and asks on the way.
#include <cstdio>

#include "common/train/language.h"
#include "docs/lessons/programs/slots.h"
#include "docs/workshop/stages.h"

using namespace babygpt;

int main() {
    return guarded("copying", [] {
        Corpus corpus = load_corpus("tales");
        Options options = load_model("runs/10_gpt/model.safetensors", {.stage = "10_gpt"}).options;
        LanguageModelling objective(options, corpus, stages.at("10_gpt"));
        Trainer trainer(options, objective);
        NextLogits next = next_logits(static_cast<const LanguageModel&>(trainer.model()), options.block_size);
        std::printf("%-6s", "step");
        for (const Slot& slot : slots()) std::printf(" %6s", slot.name);
        std::printf("\n");
        for (int step = 0;; ++step) {
            if (step % options.eval_interval == 0 || step == options.steps) {
                std::printf("%-6d", step);
                for (const Slot& slot : slots()) std::printf(" %6.2f", remembered(slot, next, corpus));
                std::printf("\n");
            }
            if (step == options.steps) break;
            trainer.step();
        }
    });
}
