// Lesson 15: in which order should heads go? By the loss without each of them alone, by Michel's estimate of that, or
// by asking again after each cut. Prints the loss that is left.
//   orders RUN...
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "common/babygpt.h"
#include "common/train/evaluate.h"
#include "common/train/heads.h"
#define main stage_main
namespace prune {
#include "stages/15_prune.cpp"
}
#undef main
using namespace babygpt;

namespace {

using Loss = std::function<double(const HeadsByLayer&)>;

// The losses when heads go in the order of what they are worth, the last of a layer excepted.
std::vector<double> by_worth(std::vector<Head> heads, const std::vector<double>& worth, const Loss& loss_without) {
    std::vector<size_t> order(heads.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t i) { return worth[i]; });
    std::map<int, int> left;
    for (const Head& head : heads) ++left[head.layer];
    std::vector<double> losses;
    HeadsByLayer off;
    for (size_t i : order) {
        if (left[heads[i].layer] == 1) continue;
        --left[heads[i].layer];
        off = with(off, heads[i]);
        losses.push_back(loss_without(off));
    }
    return losses;
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("orders", [&] {
        for (int i = 1; i < argc; ++i) {
            const std::string file = std::string(argv[i]) + "/model.safetensors";
            SavedModel saved =
                load_model(file, {.stage = "13_bert", .n_embd = 1, .n_head = 1, .n_layer = 1, .positions = "absolute"});
            const Options& o = saved.options;
            Sentences text = load_sentences(o.data);
            BertConfig config = bert_config(o, text.tokenizer.size());
            Rng unused(0);
            prune::Model model(config, unused);
            restore(model.parameters, saved.checkpoint, "", file);
            PreTraining objective(o, text, {});
            auto draw = [&](Part part, Rng& rng) { return objective.draw(part, rng); };
            Loss loss_without = [&](const HeadsByLayer& heads) {
                return mean_loss(Part::val, draw, MaskedModel(model, mask_without(heads, config)), o);
            };
            const std::vector<Head> heads = all_heads(config);
            std::vector<double> alone;
            for (const Head& head : heads) alone.push_back(loss_without(with({}, head)));
            std::vector<double> first = by_worth(heads, alone, loss_without);
            std::vector<double> second = by_worth(heads, estimate_worth(objective, model, config, o), loss_without);
            std::vector<Cut> third = cut_one_by_one(config, loss_without);
            std::printf("%-14s %9s %9s %9s\n%-14zu %9.4f %9.4f %9.4f\n", argv[i], "alone", "estimate", "again",
                        heads.size(), loss_without({}), loss_without({}), loss_without({}));
            for (size_t n = 0; n < third.size(); ++n)
                std::printf("%-14zu %9.4f %9.4f %9.4f\n", heads.size() - n - 1, first[n], second[n], third[n].loss);
        }
    });
}
