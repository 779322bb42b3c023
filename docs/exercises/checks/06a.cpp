// as shipped: There are 0 blocks, expected 3
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int V = 7, T = 5;
    Options o{.block_size = T, .n_embd = 8, .n_head = 2, .n_layer = 3};
    Rng rng(1), another(2);
    Model model(o, V, rng);
    expect(model.blocks.size() == 3, str("There are ", model.blocks.size(), " blocks, expected 3."),
           "The constructor makes o.n_layer of them.");
    Block one(o, another);
    expect_parameters(model,
                      {registered("token_embedding", model.token_embedding),
                       registered("position_embedding", model.position_embedding), registered("lm_head", model.lm_head),
                       registered("blocks.0", one), registered("blocks.1", one), registered("blocks.2", one)});
    expect(!alike(model.blocks[0].feed_forward.up.weight, model.blocks[1].feed_forward.up.weight),
           "Block 0 and block 1 have the same weights.", "A copy of a block shares its weights. Make each on its own.");

    Tokens ids(2, T, random_ids(2 * T, V, 3));
    Tensor x = model.token_embedding(ids) + model.position_embedding(positions(T));
    const std::vector<Block>& b = model.blocks;
    expect_same("logits", model(ids), model.lm_head(b[2](b[1](b[0](x)))), "x goes through block 0, then 1, then 2.",
                {{"x goes through no block at all.", model.lm_head(x)},
                 {"Every block reads the x from the bottom, and only the last one counts. Give x its new value: x = "
                  "block(x).",
                  model.lm_head(b[2](x))},
                 {"x goes through the first block only.", model.lm_head(b[0](x))},
                 {"x goes through the first block three times.", model.lm_head(b[0](b[0](b[0](x))))},
                 {"The blocks are in reverse order: the first one made is at the bottom.",
                  model.lm_head(b[0](b[1](b[2](x))))}});
    expect_gradients(model, model(ids), "Is every block part of the way from x to the logits, and registered itself?");
    return "Three blocks on top of each other, each with weights of its own, all registered.";
}
