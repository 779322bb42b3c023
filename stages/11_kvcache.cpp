// Stage 11: write fast. New since 10: keys and values are kept, so that a new character costs one row, not the block.
#include <cmath>

#include "common/babygpt.h"
using namespace babygpt;

//> cache
// Of one attention layer: keys and values of all places read so far, (B, T, C) each.
struct Cache {
    Tensor keys, values;
    int length() const { return keys.node ? keys.size(1) : 0; }

    void append(const Tensor& k, const Tensor& v) {  // (B, new, C): of the new places
        keys = keys.node ? concat({keys, k}, 1) : k;
        values = values.node ? concat({values, v}, 1) : v;
    }

    Tensor attend(const Tensor& q, int n_head) const {  // (B, new, C): each new place looks at all up to its own
        auto heads = [&](const Tensor& y) { return reshape(y, {y.size(0), y.size(1), n_head, -1}); };
        Tensor scores = einsum("bqhd,bkhd->bhqk", heads(q), heads(keys)) / std::sqrt(q.size(-1) / n_head);
        scores = masked_fill(scores, !tril(q.size(1), length()), -INFINITY);       // (B, n_head, new, T)
        Tensor parts = einsum("bhqk,bkhd->bqhd", softmax(scores), heads(values));  // (B, new, n_head, H)
        return reshape(parts, q.shape());                                          // (B, new, C)
    }
};
//< cache

//> multihead
struct MultiHeadAttention : Module {
    Linear key, query, value;
    Linear proj;
    int n_head;
    Dropout dropout;

    MultiHeadAttention(const Options& o, Rng& rng)
        : key(o.n_embd, o.n_embd, rng, no_bias),
          query(o.n_embd, o.n_embd, rng, no_bias),
          value(o.n_embd, o.n_embd, rng, no_bias),
          proj(o.n_embd, o.n_embd, rng),
          n_head(o.n_head),
          dropout{o.dropout} {
        add("key", key), add("query", query), add("value", value);
        add("proj", proj);
    }

    Tensor operator()(const Tensor& x) const {                                         // (B, T, C)
        Tensor parts = causal_attention(query(x), key(x), value(x), n_head, dropout);  // (B, T, C)
        return dropout(proj(parts));                                                   // (B, T, C)
    }
    Tensor operator()(const Tensor& x, auto& cache) const {  // (B, new, C)
        cache.append(key(x), value(x));
        return proj(cache.attend(query(x), n_head));  // (B, new, C)
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

    Tensor operator()(Tensor x) const {  // (B, T, C)
        x = x + attention(norm1(x));
        x = x + feed_forward(norm2(x));
        return x;  // (B, T, C)
    }
    Tensor operator()(Tensor x, auto& cache) const {  // (B, new, C)
        x = x + attention(norm1(x), cache);
        return x + feed_forward(norm2(x));  // (B, new, C)
    }
};
//< block

//> model
struct Model : LanguageModel {
    Embedding token_embedding, position_embedding;
    Sequential<Block> blocks;
    LayerNorm norm;
    Linear lm_head;

    Model(const Options& o, int vocab_size, Rng& rng)
        : token_embedding(vocab_size, o.n_embd, rng),
          position_embedding(o.block_size, o.n_embd, rng),
          norm(o.n_embd),
          lm_head(o.n_embd, vocab_size, rng) {
        add("token_embedding", token_embedding), add("position_embedding", position_embedding);
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

    Tensor operator()(const Tokens& ids) const override {                        // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T));  // (B, T, C)
        x = blocks(x);                                                           // (B, T, C)
        return lm_head(norm(x));                                                 // (B, T, V)
    }
    // The same for new characters: what came before them is in the caches, one for each block.
    Tensor operator()(const Tokens& ids, auto& caches) const {                                       // (B, new)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T, caches[0].length()));  // (B, new, C)
        for (size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, caches[i]);                      // (B, new, C)
        return lm_head(norm(x));                                                                     // (B, new, V)
    }
};
//< model

int main(int argc, char** argv) {
    Options defaults{.stage = "11_kvcache", .block_size = 0, .model = "runs/10_gpt"};
    return run_writers<Model>(argc, argv, defaults, "10_gpt", [](const Model& model, const Options& o) {
        return std::vector<Writer>{{"plain", next_logits(model, o.block_size)},
                                   {"cached", cached_writer<Cache>(model, o.block_size)},
                                   {"fast", cached_writer<KeyValueCache>(model, o.block_size)}};
    });
}
