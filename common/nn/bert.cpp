#include "common/nn/bert.h"

#include <algorithm>

namespace babygpt {

void BertInput::check() const {
    if (input_ids && inputs_embeds.node) fail("You cannot specify both input_ids and inputs_embeds at the same time");
    if (!input_ids && !inputs_embeds.node) fail("You have to specify either input_ids or inputs_embeds");
    if (input_ids && attention_mask.values.empty() && std::ranges::count(input_ids->ids, 0))
        warn_once("there is padding ([PAD], token 0) and no attention_mask: it is read like any other token");
}

int BertInput::past_key_values_length() const {
    return past_key_values && !past_key_values->empty() ? past_key_values->front().self.length() : 0;
}

void BertInput::check_keeps_nothing() const {
    if (hidden_states || attentions)
        fail("output_hidden_states and output_attentions are incompatible with gradient checkpointing while training; ",
             "ask for them under NoGrad, or set gradient_checkpointing to 0");
}

void init_weights(Module& model, const BertConfig& config, Rng& rng) {
    for (auto& [name, tensor] : model.parameters) {
        if (tensor.shape().size() > 1) fill_normal(tensor, config.initializer_range, rng);
        if (name.ends_with("bias")) std::ranges::fill(tensor.values(), 0);
        if (name.ends_with("word_embeddings.weight"))
            std::ranges::fill(tensor.values().first(size_t(config.hidden_size)), 0);
    }
}

}  // namespace babygpt
