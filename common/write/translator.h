// From a text in one language to a text in another: an encoder reads it, a decoder writes.
#pragma once
#include "common/nn/bert.h"
#include "common/text/tokenizer.h"

namespace babygpt {

// An encoder and decoder that can be asked: the model, its tokens, and how many of them it reads or writes.
struct Translator {
    const EncoderDecoder& model;
    const Tokenizer& tokenizer;
    int max_tokens;
};

// A text as the encoder reads it: [CLS] text [SEP]. Fails on a text that is too long, or has unknown characters.
std::vector<int> encoder_tokens(const Translator& translator, const std::string& text);

// The likeliest character at every step, until [SEP] or until there is no room. Texts of different lengths go side by
// side, each as it would alone; an empty one stays so. With use_cache a step reads only the character before.
std::vector<std::string> translate(const Translator& translator, const std::vector<std::string>& texts,
                                   bool use_cache = true);

// A translation place by place: the token that the decoder read there and the one that it wrote. It reads [CLS] first,
// and writes [SEP] last, if the translation left room for it.
struct DecoderTokens {
    std::vector<int> before, written;  // T each
};
DecoderTokens decoder_tokens(const Translator& translator, const std::string& translation);

// Where the decoder looks while it writes `translation`, in each layer.
struct Alignment {
    std::vector<int> read, written;        // those of encoder_tokens; of decoder_tokens
    std::vector<Tensor> cross_attentions;  // (1, heads, written, read)
};
Alignment align(const Translator& translator, const std::string& text, const std::string& translation);

}  // namespace babygpt
