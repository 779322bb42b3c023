// What goes into a BERT and what comes out, for those who train one or ask it something: the model itself is a stage's.
#pragma once
#include <optional>

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
    Mask attention_mask = {};   // (B, 1, 1, T): true where a token is, false at padding; default: nothing is hidden
    Tensor inputs_embeds = {};  // (B, T, C)
    // For a decoder: what an encoder made of a text, and where that is padding.
    Tensor encoder_hidden_states = {};  // (B, S, C)
    Mask encoder_attention_mask = {};   // (B, 1, 1, S)
    // For a decoder that writes step by step: one for each layer, none at first. The tokens above are the new ones.
    std::vector<PastKeyValue>* past_key_values = nullptr;
    // Where to keep what the layers compute, if it is wanted: output_hidden_states and output_attentions.
    std::vector<Tensor>* hidden_states = nullptr;     // (B, T, C): of the embeddings and after each layer
    std::vector<Tensor>* attentions = nullptr;        // (B, heads, T, T) of each layer
    std::vector<Tensor>* cross_attentions = nullptr;  // (B, heads, T, S) of each layer

    int past_key_values_length() const;  // tokens written before the new ones
    // Fails if there are both or neither of ids and embeddings; warns of padding without a mask.
    void check() const;
    // Fails if something is to be kept: layers that are computed twice would keep it twice.
    void check_keeps_nothing() const;
};
inline void keep(std::vector<Tensor>* kept, const Tensor& x) {
    if (kept) kept->push_back(x);
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

// The start of Hugging Face's models: matrices and tables from N(0, initializer_range), biases and [PAD]'s word 0.
void init_weights(Module& model, const BertConfig& config, Rng& rng);

}  // namespace babygpt
