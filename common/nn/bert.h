// What goes into a BERT and what comes out, for those who train one or ask it something: the model itself is a stage's.
#pragma once
#include <optional>

#include "common/base/options.h"
#include "common/nn/bert_config.h"
#include "common/nn/nn.h"

namespace babygpt {

// Keys and values that an attention layer has computed, (B, T, heads, H) each.
struct KeyValues {
    Tensor key = {}, value = {};
    int length() const { return key.node ? key.size(1) : 0; }
};
// What a decoder's layer keeps from one step to the next: of the tokens written so far, and of the text that was read.
struct PastKeyValue {
    KeyValues self, cross;
};

// The arguments of Hugging Face's forward(). They travel beside the hidden states through all boxes.
struct BertInput {
    std::optional<Tokens> input_ids = {};       // (B, T), or else inputs_embeds
    std::optional<Tokens> token_type_ids = {};  // (B, T): 0 in the first sentence, 1 in the second; default: all 0
    // (B, 1, 1, T), or past + T with a cache: true where a token is, false at padding; default: nothing is hidden
    Mask attention_mask = {};
    Tensor inputs_embeds = {};  // (B, T, C)
    // For a decoder: what an encoder made of a text, and where that is padding.
    Tensor encoder_hidden_states = {};  // (B, S, C)
    Mask encoder_attention_mask = {};   // (B, 1, 1, S)
    // For a decoder that writes step by step: one for each layer, none at first. The tokens above are the new ones.
    std::vector<PastKeyValue>* past_key_values = nullptr;
    Tensor head_mask = {};  // (heads) or (layers, heads): 1 keeps a head, 0 switches it off; default: all are on
    // Where to keep what the layers compute, if it is wanted: output_hidden_states and output_attentions.
    std::vector<Tensor>* hidden_states = nullptr;     // (B, T, C): of the embeddings and after each layer
    std::vector<Tensor>* attentions = nullptr;        // (B, heads, T, T) of each layer, or past + T with a cache
    std::vector<Tensor>* cross_attentions = nullptr;  // (B, heads, T, S) of each layer

    int past_key_values_length() const;  // tokens written before the new ones
    // What only some models do something with.
    enum Extra { none, with_head_mask, with_decoding };
    // Fails if there are both or neither of ids and embeddings, if something comes in that the model would ignore, or
    // if layers that are computed again are to keep something; warns of padding without a mask.
    void check(Extra taken = none) const;
    // Fails if something is to be kept: layers that are computed twice would keep it twice.
    void check_keeps_nothing() const;
};
inline Tensor keep(std::vector<Tensor>* kept, const Tensor& x) {
    if (kept) kept->push_back(x);
    return x;
}

struct BertForPreTrainingOutput {
    Tensor prediction_logits;        // (B, T, V)
    Tensor seq_relationship_logits;  // (B, 2): follows, does not follow
};

struct PreTrainingModel : Module {
    virtual BertForPreTrainingOutput operator()(const BertInput& input) const = 0;
    virtual ~PreTrainingModel() = default;
};

struct EncoderDecoder : Module {
    virtual Tensor encode(const BertInput& input) const = 0;  // (B, S, C): what the encoder makes of a text
    virtual Tensor decode(const BertInput& input) const = 0;  // (B, T, V): scores of each next token, given that
    virtual ~EncoderDecoder() = default;
};

struct PrunableModel : PreTrainingModel {
    // Cuts heads out. They are called by the numbers they had at first, whatever has been cut out since.
    virtual void prune_heads(const HeadsByLayer& heads) = 0;
};

// The layer's part of a head mask, (heads). Fails if the mask is not one for this many layers and heads.
Tensor layer_head_mask(const Tensor& head_mask, size_t layer, const BertConfig& config);

// Fails if a layer or a head is not one of the model.
void check_heads(const HeadsByLayer& heads, const BertConfig& config);

// "0:1;1:0,2" is head 1 of layer 0 and heads 0 and 2 of layer 1.
std::string list_heads(const HeadsByLayer& heads);
HeadsByLayer parse_heads(const std::string& text);

// The options of a run as a BertConfig.
BertConfig bert_config(const Options& options, int vocab_size);

// The start of Hugging Face's models: matrices and tables from N(0, initializer_range), biases and [PAD]'s word 0.
void init_weights(Module& model, const BertConfig& config, Rng& rng);

}  // namespace babygpt
