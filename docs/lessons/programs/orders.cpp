// Lesson 15: in which order should heads go? By the loss without each of them alone, by their importance as Michel et
// al. estimate it, raw or normalised, or by asking again after each cut. The order is found on the training text; the
// losses are those on the other.
//   orders RUN...
#include <algorithm>
#include <cmath>
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

// The order of what heads are worth, the last of each layer left out.
std::vector<Head> by_worth(const std::vector<Head>& heads, const std::vector<double>& worth) {
    std::vector<size_t> order(heads.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t i) { return worth[i]; });
    std::map<int, int> left;
    for (const Head& head : heads) ++left[head.layer];
    std::vector<Head> result;
    for (size_t i : order)
        if (left[heads[i].layer]-- > 1) result.push_back(heads[i]);
    return result;
}

// As Michel et al. compare heads of different layers: divided by the length of their layer's numbers.
std::vector<double> normalised(const std::vector<Head>& heads, std::vector<double> importance) {
    std::map<int, double> squares;
    for (size_t i = 0; i < heads.size(); ++i) squares[heads[i].layer] += importance[i] * importance[i];
    for (size_t i = 0; i < heads.size(); ++i) importance[i] /= std::sqrt(squares[heads[i].layer]);
    return importance;
}

// With all heads, and after each that goes.
std::vector<double> losses(const std::vector<Head>& order, const Loss& loss_without) {
    HeadsByLayer off;
    std::vector<double> result{loss_without(off)};
    for (const Head& head : order) result.push_back(loss_without(off = with(off, head)));
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("orders", [&] {
        if (argc < 2) fail("usage: orders RUN...");
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
            auto loss_on = [&](Part part) -> Loss {
                return [&, part](const HeadsByLayer& heads) {
                    return mean_loss(part, draw, MaskedModel(model, mask_without(heads, config)), o);
                };
            };
            const Loss train_loss = loss_on(Part::train), val_loss = loss_on(Part::val);
            const std::vector<Head> heads = all_heads(config);
            std::vector<double> alone;
            for (const Head& head : heads) alone.push_back(train_loss(with({}, head)));
            std::vector<double> importance = head_importance(Part::train, objective, model, config, o);
            std::vector<double> by_alone = losses(by_worth(heads, alone), val_loss),
                                by_importance = losses(by_worth(heads, importance), val_loss),
                                by_layer = losses(by_worth(heads, normalised(heads, importance)), val_loss),
                                again = losses(cutting_order(config, train_loss), val_loss);
            std::printf("%-14s %9s %11s %11s %9s\n", argv[i], "alone", "importance", "normalised", "again");
            for (size_t n = 0; n < again.size(); ++n)
                std::printf("%-14zu %9.4f %11.4f %11.4f %9.4f\n", heads.size() - n, by_alone[n], by_importance[n],
                            by_layer[n], again[n]);
        }
    });
}
