// What goes into a BERT and what comes out, for those who train one or ask it something: the model itself is a stage's.
#pragma once
#include <optional>

#include "common/nn/bert_config.h"
#include "common/nn/nn.h"

namespace babygpt {

struct BertInput {
    std::optional<Tokens> input_ids = {};       // (B, T), or else inputs_embeds
    std::optional<Tokens> token_type_ids = {};  // (B, T): 0 in the first sentence, 1 in the second; default: all 0
    Mask attention_mask = {};   // (B, 1, 1, T): true where a token is, false at padding; default: true everywhere
    Tensor inputs_embeds = {};  // (B, T, C)
    bool output_hidden_states = false, output_attentions = false;  // they take memory
};

struct BertForPreTrainingOutput {
    Tensor prediction_logits;           // (B, T, V)
    Tensor seq_relationship_logits;     // (B, 2): follows, does not follow
    std::vector<Tensor> hidden_states;  // (B, T, C): of the embeddings and after each layer
    std::vector<Tensor> attentions;     // (B, heads, T, T) of each layer
};

struct PreTrainingModel : Module {
    virtual BertForPreTrainingOutput operator()(const BertInput& input) const = 0;
    virtual ~PreTrainingModel() = default;
};

}  // namespace babygpt
