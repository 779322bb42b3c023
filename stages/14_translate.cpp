// Stage 14: two BERTs make a translator, one reads and one writes. New since 13: a decoder, which looks back only, and
// with cross-attention at what the encoder has read; what it keeps of both, so that a new character costs one row.
#include <cmath>
#include <optional>

#include "common/babygpt.h"
using namespace babygpt;

//> embeddings
struct BertEmbeddings : Module {
    Embedding word_embeddings, position_embeddings, token_type_embeddings;
    LayerNorm norm;
    Dropout dropout;
    bool absolute;

    BertEmbeddings(const BertConfig& c, Rng& rng)
        : word_embeddings(c.vocab_size, c.hidden_size, rng),
          position_embeddings(c.max_position_embeddings, c.hidden_size, rng),
          token_type_embeddings(c.type_vocab_size, c.hidden_size, rng),
          norm(c.hidden_size, c.layer_norm_eps),
          dropout{c.hidden_dropout_prob},
          absolute(c.position_embedding_type == "absolute") {
        add("word_embeddings", word_embeddings);
        add("position_embeddings", position_embeddings);  // Hugging Face's files have it even where it is not used
        add("token_type_embeddings", token_type_embeddings), add("LayerNorm", norm);
    }

    Tensor operator()(const BertInput& input) const {
        Tensor x = input.input_ids ? word_embeddings(*input.input_ids) : input.inputs_embeds;  // (B, T, C)
        int B = x.size(0), T = x.size(1), most = position_embeddings.weight.size(0);
        int past = input.past_key_values_length();
        if (past + T > most)
            fail("a sequence of ", past + T, " tokens is longer than the ", most, " positions of the model");
        x = x + token_type_embeddings(input.token_type_ids.value_or(Tokens(B, T)));  // (B, T, C)
        if (absolute) x = x + position_embeddings(positions(T, past));               // (T, C), the same for each row
        return dropout(norm(x));
    }
};
//< embeddings

//> self_attention
// Query place minus key place, for the last T of S places, as rows of a table that goes from -far to far.
Tokens distances(int T, int S, int far) {
    Tokens index(T, S);
    for (int i = 0; i < T; ++i)
        for (int j = 0; j < S; ++j) index.ids[size_t(i * S + j)] = S - T + i - j + far;
    return index;
}

enum Source { of_self, of_encoder };  // where keys and values come from

struct BertSelfAttention : Module {
    Linear query, key, value;
    Dropout dropout;
    int num_attention_heads;
    bool is_cross, is_causal;
    std::string position_embedding_type;
    Embedding distance_embedding;  // (2 max_position_embeddings - 1, H): one for all heads

    BertSelfAttention(const BertConfig& c, Source source, Rng& rng)
        : query(c.hidden_size, c.hidden_size, rng),
          key(c.hidden_size, c.hidden_size, rng),
          value(c.hidden_size, c.hidden_size, rng),
          dropout{c.attention_probs_dropout_prob},
          num_attention_heads(c.num_attention_heads),
          is_cross(source == of_encoder),
          is_causal(c.is_decoder && !is_cross),
          position_embedding_type(is_cross ? "absolute" : c.position_embedding_type),
          distance_embedding(2 * c.max_position_embeddings - 1, c.hidden_size / c.num_attention_heads, rng) {
        if (c.hidden_size % num_attention_heads)
            fail("The hidden size (", c.hidden_size, ") is not a multiple of the number of attention heads (",
                 num_attention_heads, ")");
        add("query", query), add("key", key), add("value", value);
        if (position_embedding_type != "absolute") add("distance_embedding", distance_embedding);
    }

    Tensor heads(const Tensor& y) const { return reshape(y, {y.size(0), y.size(1), num_attention_heads, -1}); }

    // (B, S, heads, H), from one of four sources: what was computed in an earlier step is not computed again.
    KeyValues keys_and_values(const Tensor& x, const BertInput& input, const KeyValues& past) const {
        auto of = [&](const Tensor& y) { return KeyValues{heads(key(y)), heads(value(y))}; };
        if (is_cross && past.length()) return past;            // cross, with cache
        if (is_cross) return of(input.encoder_hidden_states);  // cross
        KeyValues fresh = of(x);
        if (!past.length()) return fresh;                                                 // self
        return {concat({past.key, fresh.key}, 1), concat({past.value, fresh.value}, 1)};  // self, with cache
    }

    // past: in, what earlier steps kept; out, what to keep for the next.
    Tensor operator()(const Tensor& x, const BertInput& input, KeyValues& past) const {  // (B, T, C)
        past = keys_and_values(x, input, past);
        const auto& [k, v] = past;                        // (B, S, heads, H)
        Tensor q = heads(query(x));                       // (B, T, heads, H)
        Tensor scores = einsum("bqhd,bkhd->bhqk", q, k);  // (B, heads, T, S)
        if (position_embedding_type != "absolute") {
            int far = distance_embedding.weight.size(0) / 2;
            Tensor d = distance_embedding(distances(q.size(1), k.size(1), far));  // (T, S, H)
            scores = scores + einsum("bqhd,qkd->bhqk", q, d);
            if (position_embedding_type == "relative_key_query") scores = scores + einsum("bkhd,qkd->bhqk", k, d);
        }
        Mask hidden = !(is_cross ? input.encoder_attention_mask : input.attention_mask);  // nobody sees padding
        if (is_causal) hidden = hidden || !tril(q.size(1), k.size(1));                    // or looks ahead
        scores = masked_fill(scores / std::sqrt(k.size(-1)), hidden, -INFINITY);
        Tensor probs = dropout(softmax(scores));  // (B, heads, T, S)
        keep(is_cross ? input.cross_attentions : input.attentions, probs);
        return reshape(einsum("bhqk,bkhd->bqhd", probs, v), x.shape());  // (B, T, C)
    }
};
//< self_attention

//> attention
struct BertSelfOutput : Module {
    Linear dense;
    LayerNorm norm;
    Dropout dropout;

    BertSelfOutput(const BertConfig& c, Rng& rng, int in)
        : dense(in, c.hidden_size, rng),
          norm(c.hidden_size, c.layer_norm_eps),
          dropout{c.hidden_dropout_prob} {
        add("dense", dense), add("LayerNorm", norm);
    }

    Tensor operator()(const Tensor& x, const Tensor& residual) const {  // (B, T, in), (B, T, C)
        return norm(dropout(dense(x)) + residual);                      // first the sum, then the norm: (B, T, C)
    }
};

struct BertAttention : Module {
    BertSelfAttention self;
    BertSelfOutput output;

    BertAttention(const BertConfig& c, Source source, Rng& rng)
        : self(c, source, rng),
          output(c, rng, c.hidden_size) {
        add("self", self), add("output", output);
    }

    Tensor operator()(const Tensor& x, const BertInput& input, KeyValues& past) const {
        return output(self(x, input, past), x);
    }
};

struct BertIntermediate : Module {
    Linear dense;
    Tensor (*intermediate_act_fn)(Tensor);

    BertIntermediate(const BertConfig& c, Rng& rng)
        : dense(c.hidden_size, c.intermediate_size, rng),
          intermediate_act_fn(activation(c.hidden_act)) {
        add("dense", dense);
    }

    Tensor operator()(const Tensor& x) const { return intermediate_act_fn(dense(x)); }  // (B, T, intermediate_size)
};
using BertOutput = BertSelfOutput;  // behind the feed-forward layer, where more numbers come in
//< attention

//> encoder
struct BertLayer : Module {
    BertAttention attention;
    std::optional<BertAttention> crossattention;
    BertIntermediate intermediate;
    BertOutput output;

    BertLayer(const BertConfig& c, Rng& rng)
        : attention(c, of_self, rng),
          intermediate(c, rng),
          output(c, rng, c.intermediate_size) {
        add("attention", attention), add("intermediate", intermediate), add("output", output);
        if (!c.add_cross_attention) return;
        if (!c.is_decoder) fail("BertLayer should be used as a decoder model if cross attention is added");
        add("crossattention", crossattention.emplace(c, of_encoder, rng));
    }

    Tensor operator()(const Tensor& x, const BertInput& input, PastKeyValue& past) const {  // (B, T, C)
        Tensor attended = attention(x, input, past.self);
        if (input.encoder_hidden_states.node) {
            if (!crossattention)
                fail(
                    "If `encoder_hidden_states` are passed, BertLayer has to be instantiated with cross-attention "
                    "layers by setting `config.add_cross_attention=True`");
            attended = (*crossattention)(attended, input, past.cross);
        }
        return output(intermediate(attended), attended);
    }
};

struct BertEncoder : Module {
    std::vector<BertLayer> layer;

    BertEncoder(const BertConfig& c, Rng& rng) {
        for (int i = 0; i < c.num_hidden_layers; ++i) add(str("layer.", i), layer.emplace_back(c, rng));
    }

    Tensor operator()(Tensor x, const BertInput& input) const {  // (B, T, C)
        keep(input.hidden_states, x);
        if (input.past_key_values) input.past_key_values->resize(layer.size());
        auto each = [this, input](size_t i, const Tensor& y) {
            PastKeyValue nothing;
            PastKeyValue& past = input.past_key_values ? (*input.past_key_values)[i] : nothing;
            return keep(input.hidden_states, layer[i](y, input, past));
        };
        return through_layers(layer.size(), x, each, input.encoder_hidden_states);
    }
};
//< encoder

//> model
struct BertModel : Module {
    BertEmbeddings embeddings;
    BertEncoder encoder;
    bool is_decoder;

    BertModel(const BertConfig& c, Rng& rng)
        : embeddings(c, rng),
          encoder(c, rng),
          is_decoder(c.is_decoder) {
        add("embeddings", embeddings), add("encoder", encoder);
    }

    Tensor operator()(const BertInput& input) const {
        input.check(is_decoder ? BertInput::with_decoding : BertInput::none);
        return encoder(embeddings(input), input);  // (B, T, C)
    }
};
//< model

//> heads
struct BertLMPredictionHead : Module {
    Linear dense;
    LayerNorm norm;
    Tensor (*transform_act_fn)(Tensor);
    Tensor decoder, bias;  // (V, C): the word embeddings themselves, tied; (V)

    BertLMPredictionHead(const BertConfig& c, const Tensor& word_embeddings, Rng& rng)
        : dense(c.hidden_size, c.hidden_size, rng),
          norm(c.hidden_size, c.layer_norm_eps),
          transform_act_fn(activation(c.hidden_act)),
          decoder(word_embeddings),
          bias(Tensor::parameter({c.vocab_size})) {
        add("transform.dense", dense), add("transform.LayerNorm", norm), add("bias", bias);
    }

    Tensor operator()(const Tensor& x) const {                           // (B, T, C)
        return linear(norm(transform_act_fn(dense(x))), decoder, bias);  // (B, T, V)
    }
};

struct BertLMHeadModel : Module {
    BertModel bert;
    BertLMPredictionHead predictions;

    BertLMHeadModel(const BertConfig& c, Rng& rng)
        : bert(c, rng),
          predictions(c, bert.embeddings.word_embeddings.weight, rng) {
        add("bert", bert), add("cls.predictions", predictions);
    }

    Tensor operator()(const BertInput& input) const { return predictions(bert(input)); }  // (B, T, V)
};
//< heads

//> translator
BertConfig as_decoder(BertConfig c) {
    c.is_decoder = c.add_cross_attention = true;
    return c;
}

struct Model : EncoderDecoder {  // EncoderDecoderModel
    BertModel encoder;
    BertLMHeadModel decoder;

    Model(const BertConfig& c, Rng& rng)
        : encoder(c, rng),
          decoder(as_decoder(c), rng) {
        add("encoder", encoder), add("decoder", decoder);
        init_weights(*this, c, rng);
    }

    Tensor encode(const BertInput& input) const override { return encoder(input); }  // (B, S, C)
    Tensor decode(const BertInput& input) const override { return decoder(input); }  // (B, T, V)
};
//< translator

int main(int argc, char** argv) {
    Options defaults{.stage = "14_translate",
                     .data = "pairs",
                     .block_size = 64,
                     .n_embd = 64,
                     .n_head = 4,
                     .n_layer = 2,
                     .positions = "absolute",
                     .dropout = 0.02,
                     .steps = 2000,
                     .learning_rate = 3e-3,
                     .warmup = 200,
                     .decay = true,
                     .clip = 1,
                     .eval_interval = 250,
                     .eval_batches = 20,
                     .checkpoint = 0};
    return run_translate<Model>(argc, argv, defaults);
}
