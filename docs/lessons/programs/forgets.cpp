// Lesson 15: a GPT with one head switched off at a time: what does it forget? It writes tales, and the judge says which
// of their memory slots are right.
//   forgets RUN TALES
#include <cstdio>

#include "common/babygpt.h"
#include "common/train/evaluate.h"
#include "data/grammar.h"
#define main stage_main
namespace gpt {
#include "stages/10_gpt.cpp"
}
#undef main
using namespace babygpt;

// In the output layer a head owns columns. With zeros there nothing of what it says is heard: a head mask of 0.
void switch_off(gpt::Model& model, size_t block, int head) {
    Linear& proj = model.blocks[block].attention.proj;
    const int C = proj.weight.size(0), H = C / model.blocks[block].attention.n_head;
    for (int row = 0; row < C; ++row) std::fill_n(proj.weight.values().begin() + row * C + head * H, H, real(0));
}

int main(int argc, char** argv) {
    return guarded("forgets", [&] {
        if (argc != 3) fail("which model, and how many tales? forgets runs/10_gpt 100");
        const std::string file = std::string(argv[1]) + "/model.safetensors";
        SavedModel saved = load_model(file, {.stage = "10_gpt", .n_embd = 1, .n_head = 1, .n_layer = 1});
        const Options o = saved.options;
        const int tales = std::stoi(argv[2]);
        Corpus corpus = load_corpus(o.data);
        Rng unused(0);
        gpt::Model model(o, saved.vocabulary.size(), unused);
        LanguageModelling objective(o, corpus, maker<gpt::Model>());
        auto draw = [&](Part part, Rng& rng) { return objective.draw(part, rng); };
        auto print = [&](const std::string& without) {
            double loss = mean_loss(Part::val, draw, model, o);
            Score score =
                corpus.judge->judge(write_tales(next_logits(model, o.block_size), corpus.vocabulary, o, tales));
            std::printf("%-8s %6.3f %7zu", without.c_str(), loss, score.in_form);
            for (const Score::Slots& kind : score.kinds) std::printf(" %4zu/%-4zu", kind.right, kind.slots);
            std::printf("\n");
        };
        Score none = corpus.judge->judge("");
        std::printf("%-8s %6s %7s", "without", "loss", "in form");
        for (const Score::Slots& kind : none.kinds) std::printf(" %9s", kind.kind.c_str());
        std::printf("\n");
        restore(model.parameters, saved.checkpoint, "", file);
        print("none");
        for (size_t block = 0; block < model.blocks.size(); ++block)
            for (int head = 0; head < o.n_head; ++head) {
                restore(model.parameters, saved.checkpoint, "", file);
                switch_off(model, block, head);
                print(str(block, ".", head));
            }
    });
}
