// as shipped: After 3 steps none of the numbers of block 1 has moved
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int V = 7, T = 5;
    Options o{.block_size = T, .n_embd = 8, .n_head = 2, .n_layer = 3};
    Rng rng(1), another(2);
    Model model(o, V, rng);
    expect(model.blocks.size() == 3, str("There are ", model.blocks.size(), " blocks, expected 3."), "o.n_layer is 3.");
    auto numbers_of = [](const Module& part) {
        std::vector<real> all;
        for (const auto& [name, tensor] : part.parameters)
            all.insert(all.end(), tensor.values().begin(), tensor.values().end());
        return all;
    };
    std::vector<std::vector<real>> before;
    for (const Block& block : model.blocks) before.push_back(numbers_of(block));
    AdamW optimiser(model.parameters);
    Tokens x(4, T, random_ids(4 * T, V, 3)), y(4, T, random_ids(4 * T, V, 4));
    for (int step = 0; step < 3; ++step) {
        cross_entropy(model(x), y).backward();
        optimiser.step(0.01);
    }
    for (size_t i = 0; i < 3; ++i)
        expect(numbers_of(model.blocks[i]) != before[i],
               str("After 3 steps none of the numbers of block ", i, " has moved."),
               "The optimiser moves what it was given: model.parameters. Whose parameters stand under each name?");
    Block one(o, another);
    expect_parameters(model,
                      {registered("token_embedding", model.token_embedding),
                       registered("position_embedding", model.position_embedding), registered("lm_head", model.lm_head),
                       registered("blocks.0", one), registered("blocks.1", one), registered("blocks.2", one)});
    for (size_t i = 0; i < model.parameters.size(); ++i)
        for (size_t j = 0; j < i; ++j)
            expect(
                model.parameters[i].tensor.node != model.parameters[j].tensor.node,
                str("\"", model.parameters[j].name, "\" and \"", model.parameters[i].name, "\" are the same numbers."),
                "Each block has weights of its own, and each is registered once.");
    return "Three steps move all three blocks, and each is registered once.";
}
