// Stage 15: heads switched off and cut out. New since 13: head_mask, which silences a head to see what it was worth,
// and prune_heads, which takes its rows of query, key and value and its columns of the output layer away.
#include <algorithm>
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

//> slices
// The slices of these heads along an axis, each `size` wide.
Tensor slices(const Tensor& x, int axis, const std::vector<int>& heads, int size) {
    std::vector<Tensor> parts;
    for (int head : heads) parts.push_back(slice(x, axis, head * size, (head + 1) * size));
    return concat(parts, axis);
}
//< slices

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
    std::vector<int> heads_left;  // by the numbers that they had at first
    std::string position_embedding_type;
    Embedding distance_embedding;  // (2 max_position_embeddings - 1, H): one for all heads

    BertSelfAttention(const BertConfig& c, Rng& rng)
        : query(c.hidden_size, c.hidden_size, rng),
          key(c.hidden_size, c.hidden_size, rng),
          value(c.hidden_size, c.hidden_size, rng),
          dropout{c.attention_probs_dropout_prob},
          num_attention_heads(c.num_attention_heads),
          heads_left(positions(c.num_attention_heads).ids),
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
        if (input.head_mask.node)  // a head that is switched off has no weights left, and nothing makes up for them
            probs = probs * reshape(slices(input.head_mask, 0, heads_left, 1), {-1, 1, 1});
        keep(input.attentions, probs);
        return reshape(einsum("bhqk,bkhd->bqhd", probs, v), {x.size(0), x.size(1), -1});  // (B, T, heads * H)
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

    void prune_heads(const std::set<int>& heads) {
        std::vector<int> left, places;  // their numbers at first, and where they stand now
        for (int i = 0; i < self.num_attention_heads; ++i)
            if (int head = self.heads_left[size_t(i)]; !heads.contains(head)) left.push_back(head), places.push_back(i);
        if (left == self.heads_left) return;  // nothing goes
        const int H = self.query.weight.size(0) / self.num_attention_heads;
        for (Linear* each : {&self.query, &self.key, &self.value}) {
            each->weight.replace(slices(each->weight, 0, places, H));  // rows: what comes out
            each->bias.replace(slices(each->bias, 0, places, H));
        }
        output.dense.weight.replace(slices(output.dense.weight, 1, places, H));  // columns: what goes in
        self.heads_left = left, self.num_attention_heads = int(left.size());
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
    BertConfig config;

    BertEncoder(const BertConfig& c, Rng& rng)
        : config(c) {
        for (int i = 0; i < c.num_hidden_layers; ++i) add(str("layer.", i), layer.emplace_back(c, rng));
    }

    Tensor operator()(Tensor x, const BertInput& input) const {  // (B, T, C)
        keep(input.hidden_states, x);
        auto each = [this, input](size_t i, const Tensor& y) {
            BertInput layer_input = input;  // to the layer only its own part of the head mask
            layer_input.head_mask = layer_head_mask(input.head_mask, i, config);
            return keep(input.hidden_states, layer[i](y, layer_input));
        };
        return through_layers(layer.size(), x, each, input.head_mask);
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
        input.check(BertInput::with_head_mask);
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

struct Model : PrunableModel {  // BertForPreTraining
    BertModel bert;
    BertLMPredictionHead predictions;
    Linear seq_relationship;

    Model(const BertConfig& c, Rng& rng)
        : bert(c, rng),
          predictions(c, bert.embeddings.word_embeddings.weight, rng),
          seq_relationship(c.hidden_size, 2, rng) {
        add("bert", bert), add("cls.predictions", predictions), add("cls.seq_relationship", seq_relationship);
        init_weights(*this, c, rng);
        prune_heads(c.pruned_heads);
    }

    void prune_heads(const HeadsByLayer& heads) final {
        check_heads(heads, bert.encoder.config);
        auto attention = [this](int i) -> BertAttention& { return bert.encoder.layer[size_t(i)].attention; };
        for (const auto& [i, its] : heads)  // all layers before the first cut, so that a refusal changes nothing
            if (std::ranges::includes(its, attention(i).self.heads_left)) fail("one head of layer ", i, " has to stay");
        for (const auto& [i, its] : heads) attention(i).prune_heads(its);
    }

    BertForPreTrainingOutput operator()(const BertInput& input) const override {
        auto [x, pooled] = bert(input);                     // (B, T, C), (B, C)
        return {predictions(x), seq_relationship(pooled)};  // (B, T, V), (B, 2)
    }
};
//< heads

int main(int argc, char** argv) {
    Options defaults{.stage = "15_prune",
                     .batch_size = 16,
                     .block_size = 128,
                     .n_embd = 64,
                     .n_head = 4,
                     .n_layer = 3,
                     .positions = "absolute",
                     .dropout = 0.02,
                     .steps = 1000,
                     .learning_rate = 1e-3,
                     .warmup = 100,
                     .decay = true,
                     .clip = 1,
                     .eval_interval = 200,
                     .eval_batches = 40,
                     .checkpoint = 0,
                     .model = "runs/13_bert",
                     .tolerance = 0.5};
    return run_prune<Model>(argc, argv, defaults);
}
