#include "common/train/heads.h"

#include <algorithm>
#include <cmath>

#include "common/train/evaluate.h"

namespace babygpt {

BertForPreTrainingOutput MaskedModel::operator()(const BertInput& input) const {
    BertInput masked = input;
    masked.head_mask = head_mask;
    return model(masked);
}

Tensor mask_without(const HeadsByLayer& heads, const BertConfig& config) {
    check_heads(heads, config);
    Tensor mask = Tensor::zeros({config.num_hidden_layers, config.num_attention_heads});
    std::ranges::fill(mask.values(), 1);
    for (const auto& [layer, its] : heads)
        for (int head : its) mask.values()[size_t(layer * config.num_attention_heads + head)] = 0;
    return mask;
}

std::vector<Head> all_heads(const BertConfig& config) {
    std::vector<Head> heads;
    for (int layer = 0; layer < config.num_hidden_layers; ++layer)
        for (int head = 0; head < config.num_attention_heads; ++head)
            if (auto pruned = config.pruned_heads.find(layer);
                pruned == config.pruned_heads.end() || !pruned->second.contains(head))
                heads.push_back({layer, head});
    return heads;
}

HeadsByLayer with(HeadsByLayer heads, const Head& head) {
    heads[head.layer].insert(head.number);
    return heads;
}

//> estimate
std::vector<double> estimate_worth(const PreTraining& objective, PreTrainingModel& model, const BertConfig& config,
                                   const Options& options) {
    std::vector<Head> heads = all_heads(config);
    std::vector<double> worth(heads.size());
    for (int i = 0; i < options.eval_batches; ++i) {
        Rng rng(options.seed, "evaluation of val", uint64_t(i));
        std::unique_ptr<DrawnBatch> batch = objective.draw(Part::val, rng);
        Tensor mask = Tensor::parameter({config.num_hidden_layers, config.num_attention_heads});
        std::ranges::fill(mask.values(), 1);
        for_chunks(*batch, MaskedModel(model, mask), 0, batch->rows(), [](Tensor& loss) { loss.backward(); });
        for (size_t h = 0; h < heads.size(); ++h)
            worth[h] += std::abs(mask.grad()[size_t(heads[h].layer * config.num_attention_heads + heads[h].number)]) /
                        options.eval_batches;
    }
    for (auto& [name, tensor] : model.parameters) tensor.clear_grad();  // they got theirs, too
    return worth;
}
//< estimate

std::vector<Cut> cut_one_by_one(const BertConfig& config,
                                const std::function<double(const HeadsByLayer&)>& loss_without) {
    std::vector<Cut> cuts;
    std::vector<Head> left = all_heads(config);
    HeadsByLayer off;
    auto is_last = [&](const Head& head) { return std::ranges::count(left, head.layer, &Head::layer) == 1; };
    for (;;) {
        Cut best{{}, INFINITY};
        for (const Head& head : left)
            if (!is_last(head))
                if (double loss = loss_without(with(off, head)); loss < best.loss) best = {head, loss};
        if (best.loss == INFINITY) return cuts;
        cuts.push_back(best);
        off = with(off, best.head);
        std::erase_if(left, [&](const Head& h) { return h.name() == best.head.name(); });
    }
}

}  // namespace babygpt
