// What each head of a BERT is worth: what the model gets wrong without it, and what a gradient says of that.
#pragma once
#include "common/train/pretraining.h"

namespace babygpt {

// A model under a head mask.
struct MaskedModel : PreTrainingModel {
    const PreTrainingModel& model;
    Tensor head_mask;

    MaskedModel(const PreTrainingModel& whole, const Tensor& mask)
        : model(whole),
          head_mask(mask) {}
    BertForPreTrainingOutput operator()(const BertInput& input) const override;
};

// 0 for these heads, 1 for all others: (layers, heads).
Tensor mask_without(const HeadsByLayer& heads, const BertConfig& config);

struct Head {
    int layer, number;
    bool operator==(const Head&) const = default;
    std::string name() const { return str(layer, ".", number); }
};
std::vector<Head> all_heads(const BertConfig& config);  // but those that were cut out
HeadsByLayer with(HeadsByLayer heads, const Head& head);

// What the loss would change by if the head were switched off, estimated from the slope at its mask's 1 (Michel et al.
// 2019): |dL/dmask| of each row's share of its batch's loss, summed over the batch, mean over batches. One number for
// each of all_heads.
std::vector<double> head_importance(Part part, const PreTraining& objective, PreTrainingModel& model,
                                    const BertConfig& config, const Options& options);

// Switches heads off one after another, and says in which order: each time the one without which the loss stays lowest,
// of those that are not the last of their layer.
std::vector<Head> cutting_order(const BertConfig& config,
                                const std::function<double(const HeadsByLayer&)>& loss_without);

}  // namespace babygpt
