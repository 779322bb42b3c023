#include <cmath>
#include "common/babygpt.h"
using namespace babygpt;

struct MultiHeadAttention : Module {
    Linear qkv, proj;
    int n_head;
    Dropout dropout;

    MultiHeadAttention(const Options& o, Rng& rng)
        : qkv(o.n_embd, 3 * o.n_embd, rng, no_bias), proj(o.n_embd, o.n_embd, rng), n_head(o.n_head), dropout{o.dropout} {
        add("qkv", qkv), add("proj", proj);
    }
    Tensor operator()(const Tensor& x) const { return dropout(proj(causal_attention(qkv(x), n_head, dropout))); }
};

struct FeedForward : Module {
    Linear up, down;
    Dropout dropout;

    FeedForward(const Options& o, Rng& rng)
        : up(o.n_embd, 4 * o.n_embd, rng), down(4 * o.n_embd, o.n_embd, rng), dropout{o.dropout} {
        add("up", up), add("down", down);
    }
    Tensor operator()(const Tensor& x) const { return dropout(down(relu(up(x)))); }
};

struct Block : Module {
    MultiHeadAttention attention;
    FeedForward feed_forward;
    LayerNorm norm1, norm2;

    Block(const Options& o, Rng& rng) : attention(o, rng), feed_forward(o, rng), norm1(o.n_embd), norm2(o.n_embd) {
        add("attention", attention), add("feed_forward", feed_forward), add("norm1", norm1), add("norm2", norm2);
    }
    Tensor operator()(Tensor x) const {
        x = x + attention(norm1(x));
        return x + feed_forward(norm2(x));
    }
};

struct Model : LanguageModel {
    Embedding token, position;
    std::vector<Block> blocks;
    LayerNorm norm;
    Linear to_logits;

    Model(const Options& o, int V, Rng& rng)
        : token(V, o.n_embd, rng), position(o.block_size, o.n_embd, rng), norm(o.n_embd), to_logits(o.n_embd, V, rng) {
        add("token", token), add("position", position);
        for (int i = 0; i < o.n_layer; ++i) add(str("blocks.", i), blocks.emplace_back(o, rng));
        add("norm", norm), add("to_logits", to_logits);
        for (auto& [name, tensor] : parameters)
            if (tensor.shape().size() == 2) fill_normal(tensor, name.find("proj") != name.npos || name.find("down") != name.npos ? 0.02 / std::sqrt(2 * o.n_layer) : 0.02, rng);
    }
    Tensor operator()(const Tokens& ids) const override {
        Tensor x = token(ids) + position(positions(ids.T));
        for (const Block& block : blocks) x = block(x);
        return to_logits(norm(x));
    }
};

int main(int argc, char** argv) {
    return run_stage<Model>(argc, argv, {.stage = "09_gpt", .batch_size=24, .block_size=128, .n_embd=96, .n_head=4, .n_layer=3, .dropout=0.0001, .steps=2000, .learning_rate=3e-3, .warmup=100, .decay=true, .clip=1});
}
