#include "common/train/heads.h"

#include <algorithm>
#include <cmath>
#include <optional>

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

//> importance
std::vector<double> head_importance(Part part, const PreTraining& objective, PreTrainingModel& model,
                                    const BertConfig& config, const Options& options) {
    std::vector<Head> heads = all_heads(config);
    std::vector<double> importance(heads.size());
    for (int i = 0; i < options.eval_batches; ++i) {
        Rng rng(options.seed, evaluation_stream(part), uint64_t(i));
        std::unique_ptr<DrawnBatch> batch = objective.draw(part, rng);
        for (int row = 0; row < batch->rows(); ++row) {  // each alone, as slopes of both signs would cancel
            Tensor mask = Tensor::parameter({config.num_hidden_layers, config.num_attention_heads});
            std::ranges::fill(mask.values(), 1);
            batch->loss(MaskedModel(model, mask), row, row + 1).backward();
            for (size_t h = 0; h < heads.size(); ++h)
                importance[h] +=
                    std::abs(mask.grad()[size_t(heads[h].layer * config.num_attention_heads + heads[h].number)]);
        }
    }
    for (auto& [name, tensor] : model.parameters) tensor.clear_grad();  // they got theirs, too
    for (double& each : importance) each /= options.eval_batches;
    return importance;
}
//< importance

std::vector<Head> cutting_order(const BertConfig& config,
                                const std::function<double(const HeadsByLayer&)>& loss_without) {
    std::vector<Head> order, left = all_heads(config);
    HeadsByLayer off;
    auto is_last = [&](const Head& head) { return std::ranges::count(left, head.layer, &Head::layer) == 1; };
    for (;;) {
        std::optional<Head> next;
        double lowest = INFINITY;
        for (const Head& head : left)
            if (!is_last(head))
                if (double loss = loss_without(with(off, head)); loss < lowest) lowest = loss, next = head;
        if (!next) return order;
        order.push_back(*next);
        off = with(off, *next);
        std::erase(left, *next);
    }
}

}  // namespace babygpt
