#include "common/nn/bert.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/base/format.h"

namespace babygpt {

void BertInput::check(Extra taken) const {
    if (input_ids && inputs_embeds.node) fail("You cannot specify both input_ids and inputs_embeds at the same time");
    if (!input_ids && !inputs_embeds.node) fail("You have to specify either input_ids or inputs_embeds");
    if (input_ids && attention_mask.values.empty() && std::ranges::count(input_ids->ids, 0))
        warn_once("there is padding ([PAD], token 0) and no attention_mask: it is read like any other token");
    if (head_mask.node && taken != with_head_mask) fail("this model would ignore head_mask; that of stage 15 takes it");
    if ((encoder_hidden_states.node || past_key_values || cross_attentions) && taken != with_decoding)
        fail(
            "this model would ignore encoder_hidden_states, past_key_values and cross_attentions; the decoder of stage "
            "14 takes them");
    if (CheckpointScope::blocks() && grad_enabled()) check_keeps_nothing();
}

Tensor layer_head_mask(const Tensor& head_mask, size_t layer, const BertConfig& c) {
    if (!head_mask.node) return head_mask;
    const Shape shape = head_mask.shape(), one{c.num_attention_heads}, all{c.num_hidden_layers, c.num_attention_heads};
    if (shape != one && shape != all)
        fail("head_mask is ", to_string(shape), "; the model needs (heads) or (layers, heads): ", to_string(one),
             " or ", to_string(all));
    return shape == one ? head_mask : reshape(slice(head_mask, 0, int(layer), int(layer) + 1), one);
}

void check_heads(const HeadsByLayer& heads, const BertConfig& c) {
    for (const auto& [layer, its] : heads) {
        if (layer < 0 || layer >= c.num_hidden_layers)
            fail("there is no layer ", layer, "; the model has layers 0 to ", c.num_hidden_layers - 1);
        for (int head : its)
            if (head < 0 || head >= c.num_attention_heads)
                fail("there is no head ", head, " in layer ", layer, "; it had heads 0 to ", c.num_attention_heads - 1);
    }
}

std::string list_heads(const HeadsByLayer& heads) {
    std::string text;
    for (const auto& [layer, its] : heads) {
        std::string list;
        for (int head : its) list += str(list.empty() ? "" : ",", head);
        if (!its.empty()) text += str(text.empty() ? "" : ";", layer, ":", list);
    }
    return text;
}

HeadsByLayer parse_heads(const std::string& text) {
    HeadsByLayer heads;
    const char *at = text.data(), *end = at + text.size();
    auto number = [&](int& n) {
        auto [rest, error] = std::from_chars(at, end, n);
        at = rest;
        return error == std::errc();
    };
    int layer = 0, head = 0;
    bool good = text.empty() || number(layer);
    while (good && at < end) {
        char sign = *at++;
        good = sign == ';' ? number(layer) : (sign == ':' || sign == ',') && number(head);
        if (good && sign != ';') heads[layer].insert(head);
    }
    if (list_heads(heads) != text) fail("pruned_heads is '", brief(text), "', not heads by layer as in 0:1;1:0,2");
    return heads;
}

BertConfig bert_config(const Options& o, int vocab_size) {
    return {.vocab_size = vocab_size,
            .hidden_size = o.n_embd,
            .num_hidden_layers = o.n_layer,
            .num_attention_heads = o.n_head,
            .intermediate_size = 4 * o.n_embd,
            .hidden_dropout_prob = o.dropout,
            .attention_probs_dropout_prob = o.dropout,
            .max_position_embeddings = o.block_size,
            .initializer_range = 0.5 / std::sqrt(o.n_embd),  // at BERT's width of 768 about its 0.02
            .position_embedding_type = o.positions,
            .gradient_checkpointing = std::max(0, o.checkpoint),
            .chunk_size_feed_forward = std::max(0, o.chunk),
            .pruned_heads = parse_heads(o.pruned_heads)};
}

int BertInput::past_key_values_length() const {
    return past_key_values && !past_key_values->empty() ? past_key_values->front().self.length() : 0;
}

void BertInput::check_keeps_nothing() const {
    if (hidden_states || attentions || cross_attentions || past_key_values)
        fail(
            "past_key_values, output_hidden_states and output_attentions are incompatible with gradient checkpointing ",
            "while training; ask for them under NoGrad, or set gradient_checkpointing to 0");
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
