// Lessons 03, 04 and 10: where the heads of a trained model look, on a text.
//   attention 03_head TEXT     a map for each head: row i shows the weights with which place i looks back
//   attention 10_gpt TEXT      a row for each head: the weights with which the last place looks back
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
#include "common/text/utf8.h"
#define main stage_main
namespace one {
#include "stages/03_head.cpp"
}
namespace several {
#include "stages/04_multihead.cpp"
}
namespace gpt {
#include "stages/10_gpt.cpp"
}
#undef main
using namespace babygpt;

// The scores and weights of a Head, without its values.
Tensor weights(const Tensor& q, const Tensor& k) {                    // (1, T, H) each
    Tensor scores = matmul(q, transpose(k)) / std::sqrt(k.size(-1));  // (1, T, T)
    return softmax(masked_fill(scores, !tril(k.size(1)), -INFINITY));
}

std::string visible(const std::string& character) {
    return character == " " ? "_" : character == "\n" ? "/" : character;
}

void print_map(const std::string& name, const std::vector<std::string>& text, const Tensor& map) {
    std::printf("# %s\n", name.c_str());
    for (const std::string& c : text) std::printf("\t%s", c.c_str());
    for (size_t i = 0; i < text.size(); ++i) {
        std::printf("\n%s", text[i].c_str());
        for (size_t j = 0; j < text.size(); ++j) std::printf("\t%.2f", double(map.values()[i * text.size() + j]));
    }
    std::printf("\n");
}

int main(int argc, char** argv) {
    return guarded("attention", [&] {
        const std::vector<std::string> known{"03_head", "04_multihead", "10_gpt"};
        if (argc != 3 || !*argv[2] || std::ranges::find(known, argv[1]) == known.end())
            fail("usage: attention 03_head|04_multihead|10_gpt TEXT");
        std::string stage = argv[1], file = "runs/" + stage + "/model.safetensors";
        SavedModel saved = load_model(file, {.stage = stage});
        std::vector<int> ids = saved.vocabulary.encode(decode_utf8(argv[2], "the text"), "text");
        if (int(ids.size()) > saved.options.block_size)
            fail("the text is longer than the block of ", saved.options.block_size);
        std::vector<std::string> text;
        for (int id : ids) text.push_back(visible(saved.vocabulary.decode({&id, 1})));
        Tokens tokens(1, int(ids.size()), ids);
        Rng unused(0);
        NoGrad looking;
        auto load = [&]<class Model>(Model model) {
            restore(model.parameters, saved.checkpoint, "", file);
            return model;
        };
        auto embed = [&](const auto& model) {
            return model.token_embedding(tokens) + model.position_embedding(positions(tokens.T));
        };
        if (stage == "03_head") {
            auto model = load(one::Model(saved.options, saved.vocabulary.size(), unused));
            Tensor x = embed(model);
            print_map("the head", text, weights(model.head.query(x), model.head.key(x)));
        } else if (stage == "04_multihead") {
            auto model = load(several::Model(saved.options, saved.vocabulary.size(), unused));
            Tensor x = embed(model);
            for (size_t i = 0; i < model.attention.heads.size(); ++i) {
                const auto& head = model.attention.heads[i];
                print_map(str("head ", i), text, weights(head.query(x), head.key(x)));
            }
        } else {
            auto model = load(gpt::Model(saved.options, saved.vocabulary.size(), unused));
            Tensor x = embed(model);
            int H = saved.options.n_embd / saved.options.n_head, T = tokens.T;
            std::printf("# where the last character looks, by block and head\n");
            for (const std::string& c : text) std::printf("\t%s", c.c_str());
            for (size_t layer = 0; layer < model.blocks.size(); ++layer) {
                const auto& block = model.blocks[layer];
                Tensor q = block.attention.query(block.norm1(x)), k = block.attention.key(block.norm1(x));  // (1, T, C)
                for (int h = 0; h < saved.options.n_head; ++h) {
                    Tensor w =
                        weights(slice(q, -1, h * H, (h + 1) * H), slice(k, -1, h * H, (h + 1) * H));  // (1, T, T)
                    std::printf("\n%zu.%d", layer, h);
                    for (int j = 0; j < T; ++j) std::printf("\t%.2f", double(w.values()[size_t((T - 1) * T + j)]));
                }
                x = block(x);
            }
            std::printf("\n");
        }
    });
}
