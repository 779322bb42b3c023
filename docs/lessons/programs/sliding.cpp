// Lesson 12: characters a second below the block and past it, with a cache: a model of places reads its window again, a
// model of distances slides.
//   sliding RUN...
#include <chrono>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
namespace relative {
#include "stages/12_relative.cpp"
}
#undef main
using namespace babygpt;

int main(int argc, char** argv) {
    return guarded("sliding", [&] {
        std::printf("%-20s %14s %14s %14s %14s\n", "chars/s", "plain, below", "plain, past", "cache, below",
                    "cache, past");
        for (int i = 1; i < argc; ++i) {
            std::string directory = argv[i], file = directory + "/model.safetensors";
            SavedModel saved = load_model(file, {.stage = "12_relative"});
            Rng unused(0), rng(1);
            relative::Model model(saved.options, saved.vocabulary.size(), unused);
            restore(model.parameters, saved.checkpoint, "", file);
            const int block = saved.options.block_size;
            std::vector<int> context;
            auto speed = [&](const NextLogits& next, int count) {
                auto begin = std::chrono::steady_clock::now();
                for (int n = 0; n < count; ++n) context.push_back(pick(next(context), saved.options, rng));
                return count / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            };
            std::printf("%-20s", saved.options.positions.c_str());
            for (const NextLogits& next :
                 {next_logits(model, block), model.absolute ? cached_writer<relative::Cache>(model, block)
                                                            : sliding_writer<relative::Cache>(model, block)}) {
                double below = 0, past = 0;
                const int texts = 5;
                for (int text = 0; text < texts; ++text) {
                    context = {0};
                    below += speed(next, block - 1) / texts;
                    past += speed(next, 4 * block) / texts;
                }
                std::printf(" %14.0f %14.0f", below, past);
            }
            std::printf("\n");
        }
    });
}
