// Stage 12: distances instead of places. New since 10: scores know how far apart two places are, and the cache slides.
#include <algorithm>
#include <cmath>

#include "common/babygpt.h"
using namespace babygpt;

//> distances
// Query place minus key place, for each of the last `rows` places and all `columns`, as rows of a table that goes from
// -far to far. Whatever is farther counts as far.
Tokens distances(int rows, int columns, int far) {
    Tokens index(rows, columns);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            index.ids[size_t(i * columns + j)] = std::clamp(columns - rows + i - j, -far, far) + far;
    return index;
}
//< distances

//> cache
// Of one attention layer: keys and values of the places that may still be looked at, (B, T, n_head, H) each.
struct Cache {
    Tensor keys, values;
    int length() const { return keys.node ? keys.size(1) : 0; }

    void append(const Tensor& k, const Tensor& v) {  // of the new places
        keys = keys.node ? concat({keys, k}, 1) : k;
        values = values.node ? concat({values, v}, 1) : v;
    }
    void drop_oldest() { keys = slice(keys, 1, 1, length()), values = slice(values, 1, 1, values.size(1)); }
};
//< cache

//> multihead
struct MultiHeadAttention : Module {
    Linear key, query, value;
    Linear proj;
    int n_head;
    std::string position_embedding_type;
    Embedding distance_embedding;  // (2 block_size - 1, H): one for all heads
    Dropout dropout;

    MultiHeadAttention(const Options& o, Rng& rng)
        : key(o.n_embd, o.n_embd, rng, no_bias),
          query(o.n_embd, o.n_embd, rng, no_bias),
          value(o.n_embd, o.n_embd, rng, no_bias),
          proj(o.n_embd, o.n_embd, rng),
          n_head(o.n_head),
          position_embedding_type(o.positions),
          distance_embedding(2 * o.block_size - 1, o.n_embd / o.n_head, rng),
          dropout{o.dropout} {
        add("key", key), add("query", query), add("value", value);
        add("proj", proj);
        if (position_embedding_type != "absolute") add("distance_embedding", distance_embedding);
    }

    Tensor scores(const Tensor& q, const Tensor& k) const {  // (B, new, n_head, H), (B, T, n_head, H)
        Tensor s = einsum("bqhd,bkhd->bhqk", q, k);          // (B, n_head, new, T)
        if (position_embedding_type != "absolute") {
            int far = distance_embedding.weight.size(0) / 2;
            Tensor d = distance_embedding(distances(q.size(1), k.size(1), far));  // (new, T, H)
            s = s + einsum("bqhd,qkd->bhqk", q, d);
            if (position_embedding_type == "relative_key_query") s = s + einsum("bkhd,qkd->bhqk", k, d);
        }
        return s / std::sqrt(k.size(-1));  // (B, n_head, new, T)
    }

    Tensor operator()(const Tensor& x, Cache& cache) const {  // (B, new, C)
        auto heads = [&](const Tensor& y) { return reshape(y, {y.size(0), y.size(1), n_head, -1}); };
        cache.append(heads(key(x)), heads(value(x)));
        Tensor s = scores(heads(query(x)), cache.keys);                                    // (B, n_head, new, T)
        Tensor weights = softmax(masked_fill(s, !tril(s.size(2), s.size(3)), -INFINITY));  // nobody looks ahead
        Tensor parts = einsum("bhqk,bkhd->bqhd", dropout(weights), cache.values);          // (B, new, n_head, H)
        return dropout(proj(reshape(parts, x.shape())));                                   // (B, new, C)
    }
};
//< multihead

//> feedforward
struct FeedForward : Module {
    Linear up, down;
    Dropout dropout;

    FeedForward(const Options& o, Rng& rng)
        : up(o.n_embd, 4 * o.n_embd, rng),
          down(4 * o.n_embd, o.n_embd, rng),
          dropout{o.dropout} {
        add("up", up), add("down", down);
    }

    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        return dropout(down(relu(up(x))));      // (B, T, 4C) inside, (B, T, C)
    }
};
//< feedforward

//> block
struct Block : Module {
    MultiHeadAttention attention;
    FeedForward feed_forward;
    LayerNorm norm1, norm2;

    Block(const Options& o, Rng& rng)
        : attention(o, rng),
          feed_forward(o, rng),
          norm1(o.n_embd),
          norm2(o.n_embd) {
        add("attention", attention), add("feed_forward", feed_forward), add("norm1", norm1), add("norm2", norm2);
    }

    Tensor operator()(Tensor x, Cache& cache) const {  // (B, new, C)
        x = x + attention(norm1(x), cache);
        x = x + feed_forward(norm2(x));
        return x;  // (B, new, C)
    }
    Tensor operator()(const Tensor& x) const {  // (B, T, C)
        Cache nothing_read;
        return (*this)(x, nothing_read);
    }
};
//< block

//> model
struct Model : LanguageModel {
    Embedding token_embedding, position_embedding;
    Sequential<Block> blocks;
    LayerNorm norm;
    Linear lm_head;
    bool absolute;

    Model(const Options& o, int vocab_size, Rng& rng)
        : token_embedding(vocab_size, o.n_embd, rng),
          position_embedding(o.block_size, o.n_embd, rng),
          norm(o.n_embd),
          lm_head(o.n_embd, vocab_size, rng),
          absolute(o.positions == "absolute") {
        add("token_embedding", token_embedding);
        if (absolute) add("position_embedding", position_embedding);
        add("norm", norm), add("lm_head", lm_head);
        for (int i = 0; i < o.n_layer; ++i) add(str("blocks.", i), blocks.emplace_back(o, rng));
        for (auto& [name, tensor] : parameters) {  // start small, and smaller the more blocks add to x
            if (name.ends_with("bias")) fill_normal(tensor, 0, rng);
            if (tensor.shape().size() < 2) continue;  // a norm's gain stays 1
            bool adds_to_x = name.ends_with("proj.weight") || name.ends_with("down.weight");
            fill_normal(tensor, adds_to_x ? 0.02 / std::sqrt(2.0 * o.n_layer) : 0.02, rng);
        }
        fill_sinusoids(position_embedding.weight, 0.05);  // places near each other start alike
    }

    Tensor embeddings(const Tokens& ids, int read) const {  // (B, new)
        Tensor x = token_embedding(ids);                    // (B, new, C)
        return absolute ? x + position_embedding(positions(ids.T, read)) : x;
    }
    Tensor operator()(const Tokens& ids) const override {  // (B, T)
        Tensor x = blocks(embeddings(ids, 0));             // (B, T, C)
        return lm_head(norm(x));                           // (B, T, V)
    }
    // New characters: what came before them is in the caches, one for each block.
    Tensor operator()(const Tokens& ids, std::vector<Cache>& caches) const {     // (B, new)
        Tensor x = embeddings(ids, caches[0].length());                          // (B, new, C)
        for (size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, caches[i]);  // (B, new, C)
        return lm_head(norm(x));                                                 // (B, new, V)
    }
};
//< model

int main(int argc, char** argv) {
    Options defaults{.stage = "12_relative",
                     .batch_size = 16,
                     .block_size = 64,
                     .n_embd = 64,
                     .n_head = 4,
                     .n_layer = 3,
                     .positions = "relative_key",
                     .dropout = 0.02,
                     .steps = 1000,
                     .learning_rate = 5e-3,
                     .warmup = 100,
                     .decay = true,
                     .clip = 1,
                     .eval_batches = 20,
                     .checkpoint = 0};
    return run_stage<Model>(argc, argv, defaults, [](const Model& model, int block_size) {
        return model.absolute ? cached_writer<Cache>(model, block_size) : sliding_writer<Cache>(model, block_size);
    });
}
