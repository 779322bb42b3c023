// Stage 10: write fast. New since 09: keys and values are kept, so that a new character costs one row and not the whole
// block.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

//> multihead
struct MultiHeadAttention : Module {
    Linear qkv, proj;  // queries, keys and values of all heads, side by side: (B, T, 3C)
    int n_head;
    Dropout dropout;

    MultiHeadAttention(const Options& o, Rng& rng)
        : qkv(o.n_embd, 3 * o.n_embd, rng, no_bias),
          proj(o.n_embd, o.n_embd, rng),
          n_head(o.n_head),
          dropout{o.dropout} {
        add("qkv", qkv), add("proj", proj);
    }

    Tensor operator()(const Tensor& x) const {                     // (B, T, C)
        Tensor parts = causal_attention(qkv(x), n_head, dropout);  // (B, T, C)
        return dropout(proj(parts));                               // (B, T, C)
    }
    Tensor operator()(const Tensor& x, KeyValueCache& cache, int first) const {  // (S, T, C): new places only
        return proj(cache.attend(qkv(x), n_head, first));                        // (S, T, C)
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
    Tensor operator()(Tensor x, KeyValueCache& cache, int first) const {  // (S, T, C)
        x = x + attention(norm1(x), cache, first);
        x = x + feed_forward(norm2(x));
        return x;  // (S, T, C)
    }
};
//< block

//> model
struct Model : LanguageModel {
    Embedding token_embedding, position_embedding;
    std::vector<Block> blocks;
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
    }

    Tensor operator()(const Tokens& ids) const override {                        // (B, T)
        Tensor x = token_embedding(ids) + position_embedding(positions(ids.T));  // (B, T, C)
        for (const Block& block : blocks) x = block(x);                          // (B, T, C)
        return lm_head(norm(x));                                                 // (B, T, V)
    }

    // The same for new characters only, of the sequences from `first` on: what came before is in the caches, one for
    // each block.
    Tensor operator()(const Tokens& ids, std::vector<KeyValueCache>& caches, int first) const {  // (S, T)
        Tokens places(ids.B, ids.T);
        for (int i = 0; i < ids.B * ids.T; ++i) places.ids[size_t(i)] = caches[0].length(first + i / ids.T) + i % ids.T;
        Tensor x = token_embedding(ids) + position_embedding(places);                   // (S, T, C)
        for (size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, caches[i], first);  // (S, T, C)
        return lm_head(norm(x));                                                        // (S, T, V)
    }
};
//< model

//> writer
// Scores of the next character, reading only what is new. Past the block size the window slides: every character then
// stands at another place, so no key or value is right any more, and the whole window is read again.
struct CachedWriter {
    const Model& model;
    size_t block_size;
    std::vector<KeyValueCache> caches;
    std::vector<int> read;  // the characters that are in the caches

    CachedWriter(const Model& m, const Options& o)
        : model(m),
          block_size(size_t(o.block_size)),
          caches(m.blocks.size(), KeyValueCache(1, o.block_size, o.n_embd)) {}

    std::vector<real> operator()(std::span<const int> context) {
        NoGrad writing;
        std::span<const int> window = context.last(std::min(context.size(), block_size));
        bool goes_on = read.size() < window.size() && std::equal(read.begin(), read.end(), window.begin());
        if (!goes_on) {
            for (KeyValueCache& cache : caches) cache.clear(0);
            read.clear();
        }
        std::span<const int> fresh = window.subspan(read.size());
        read.insert(read.end(), fresh.begin(), fresh.end());
        Tensor logits = model(Tokens(1, int(fresh.size()), {fresh.begin(), fresh.end()}), caches, 0);  // (1, T, V)
        auto last = logits.values().last(size_t(logits.size(-1)));
        return {last.begin(), last.end()};
    }
};
//< writer

//> compare
// Writes n characters both ways and compares: time, and the largest difference in any score.
void compare(const Model& model, const Options& o, int n) {
    NextLogits plain = next_logits(model, o.block_size), cached = CachedWriter(model, o);
    double seconds[2] = {}, difference = 0;
    std::vector<int> context{0};
    Rng rng(o.seed, "sampling");
    for (int i = 0; i < n; ++i) {
        std::vector<real> logits[2];
        for (int way : {0, 1}) {
            auto begin = std::chrono::steady_clock::now();
            logits[way] = (way ? cached : plain)(context);
            seconds[way] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        }
        for (size_t v = 0; v < logits[0].size(); ++v)
            difference = std::max(difference, double(std::abs(logits[0][v] - logits[1][v])));
        context.push_back(pick(logits[0], o, rng));
    }
    std::printf("%8d %12.0f %12.0f %8.1f %12.1e\n", n, n / seconds[0], n / seconds[1], seconds[0] / seconds[1],
                difference);
}
//< compare

int main(int argc, char** argv) {
    const Options gpt{.stage = "09_gpt", .n_embd = 1, .n_head = 1, .n_layer = 1};  // the least of what it writes with
    Options o{.stage = "10_kvcache", .block_size = 0, .model = "runs/09_gpt"};
    return guarded(o.stage, [&] {
        Command command = parse_options(argc, argv, o);
        SavedModel saved = load_model(o.model + "/model.safetensors", gpt);
        Rng unused(0);
        Model model(saved.options, saved.vocabulary.size(), unused);
        restore(model.parameters, saved.checkpoint, "", o.model + "/model.safetensors");
        o.block_size = saved.options.block_size, o.n_embd = saved.options.n_embd;
        if (command == Command::compare) {
            std::printf("%8s %12s %12s %8s %12s\n", "chars", "plain/s", "cached/s", "times", "difference");
            for (int n = 16; n < o.block_size; n *= 2) compare(model, o, n);
            compare(model, o, o.block_size);
            compare(model, o, 2 * o.block_size);
            std::printf("past the block of %d the window slides, and every place is read again\n\n", o.block_size);
        }
        write_sample(CachedWriter(model, o), saved.vocabulary, o, training_text(saved));
    });
}
