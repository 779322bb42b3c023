// Stage 13: BERT, box by box as Hugging Face's modeling_bert.py has it. New since 09: looking both ways, padding that
// nobody sees, two sentences, biases, GELU, LayerNorm after the sum, and heads that fill blanks and say what follows.
#include <cmath>

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
        if (T > most) fail("a sequence of ", T, " tokens is longer than the ", most, " positions of the model");
        x = x + token_type_embeddings(input.token_type_ids.value_or(Tokens(B, T)));  // (B, T, C)
        if (absolute) x = x + position_embeddings(positions(T));                     // (T, C), the same for each row
        return dropout(norm(x));
    }
};
//< embeddings

//> self_attention
Tokens distances(int T, int far) {  // query place minus key place, as rows of a table that goes from -far to far
    Tokens index(T, T);
    for (int i = 0; i < T; ++i)
        for (int j = 0; j < T; ++j) index.ids[size_t(i * T + j)] = i - j + far;
    return index;
}

struct BertSelfAttention : Module {
    Linear query, key, value;
    Dropout dropout;
    int num_attention_heads;
    std::string position_embedding_type;
    Embedding distance_embedding;  // (2 max_position_embeddings - 1, H): one for all heads

    BertSelfAttention(const BertConfig& c, Rng& rng)
        : query(c.hidden_size, c.hidden_size, rng),
          key(c.hidden_size, c.hidden_size, rng),
          value(c.hidden_size, c.hidden_size, rng),
          dropout{c.attention_probs_dropout_prob},
          num_attention_heads(c.num_attention_heads),
          position_embedding_type(c.position_embedding_type),
          distance_embedding(2 * c.max_position_embeddings - 1, c.hidden_size / c.num_attention_heads, rng) {
        if (c.hidden_size % num_attention_heads)
            fail("The hidden size (", c.hidden_size, ") is not a multiple of the number of attention heads (",
                 num_attention_heads, ")");
        add("query", query), add("key", key), add("value", value);
        if (position_embedding_type != "absolute") add("distance_embedding", distance_embedding);
    }

    Tensor operator()(const Tensor& x, const BertInput& input) const {  // (B, T, C)
        auto heads = [&](const Tensor& y) { return reshape(y, {x.size(0), x.size(1), num_attention_heads, -1}); };
        Tensor k = heads(key(x)), q = heads(query(x)), v = heads(value(x));  // (B, T, heads, H)
        Tensor scores = einsum("bqhd,bkhd->bhqk", q, k);                     // (B, heads, T, T)
        if (position_embedding_type != "absolute") {
            Tensor d = distance_embedding(distances(x.size(1), distance_embedding.weight.size(0) / 2));  // (T, T, H)
            scores = scores + einsum("bqhd,qkd->bhqk", q, d);
            if (position_embedding_type == "relative_key_query") scores = scores + einsum("bkhd,qkd->bhqk", k, d);
        }
        scores = masked_fill(scores / std::sqrt(k.size(-1)), !input.attention_mask, -INFINITY);  // nobody sees padding
        Tensor probs = dropout(softmax(scores));                                                 // (B, heads, T, T)
        keep(input.attentions, probs);
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

    BertAttention(const BertConfig& c, Rng& rng)
        : self(c, rng),
          output(c, rng, c.hidden_size) {
        add("self", self), add("output", output);
    }

    Tensor operator()(const Tensor& x, const BertInput& input) const { return output(self(x, input), x); }
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
    BertIntermediate intermediate;
    BertOutput output;

    BertLayer(const BertConfig& c, Rng& rng)
        : attention(c, rng),
          intermediate(c, rng),
          output(c, rng, c.intermediate_size) {
        add("attention", attention), add("intermediate", intermediate), add("output", output);
    }

    Tensor operator()(const Tensor& x, const BertInput& input) const {  // (B, T, C)
        Tensor attended = attention(x, input);
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
        auto each = [this, input](size_t i, const Tensor& y) { return keep(input.hidden_states, layer[i](y, input)); };
        return through_layers(layer.size(), x, each);
    }
};
//< encoder

//> model
struct BertPooler : Module {
    Linear dense;

    BertPooler(const BertConfig& c, Rng& rng)
        : dense(c.hidden_size, c.hidden_size, rng) {
        add("dense", dense);
    }

    Tensor operator()(const Tensor& x) const {                              // (B, T, C)
        Tensor first = reshape(slice(x, 1, 0, 1), {x.size(0), x.size(2)});  // that of [CLS]
        return tanh(dense(first));                                          // (B, C)
    }
};

struct BertModel : Module {
    BertEmbeddings embeddings;
    BertEncoder encoder;
    BertPooler pooler;

    BertModel(const BertConfig& c, Rng& rng)
        : embeddings(c, rng),
          encoder(c, rng),
          pooler(c, rng) {
        add("embeddings", embeddings), add("encoder", encoder), add("pooler", pooler);
    }

    std::pair<Tensor, Tensor> operator()(const BertInput& input) const {
        input.check();
        Tensor x = encoder(embeddings(input), input);  // (B, T, C)
        return {x, pooler(x)};                         // last_hidden_state and pooler_output
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

struct Model : PreTrainingModel {  // BertForPreTraining
    BertModel bert;
    BertLMPredictionHead predictions;
    Linear seq_relationship;

    Model(const BertConfig& c, Rng& rng)
        : bert(c, rng),
          predictions(c, bert.embeddings.word_embeddings.weight, rng),
          seq_relationship(c.hidden_size, 2, rng) {
        add("bert", bert), add("cls.predictions", predictions), add("cls.seq_relationship", seq_relationship);
        init_weights(*this, c, rng);
    }

    BertForPreTrainingOutput operator()(const BertInput& input) const override {
        auto [x, pooled] = bert(input);                     // (B, T, C), (B, C)
        return {predictions(x), seq_relationship(pooled)};  // (B, T, V), (B, 2)
    }
};
//< heads

int main(int argc, char** argv) {
    Options defaults{.stage = "13_bert",
                     .batch_size = 16,
                     .block_size = 128,
                     .n_embd = 64,
                     .n_head = 4,
                     .n_layer = 3,
                     .positions = "absolute",
                     .dropout = 0.02,
                     .steps = 12000,
                     .learning_rate = 3e-3,
                     .warmup = 800,
                     .decay = true,
                     .clip = 1,
                     .eval_interval = 1000,
                     .eval_batches = 40,
                     .checkpoint = 0};
    return run_bert<Model>(argc, argv, defaults);
}
