// as shipped: There is no parameter "attention.heads.0.key.weight"
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    Options o{.n_embd = 8, .n_head = 2};
    Rng rng(1);
    Block block(o, rng);
    expect_parameters(block,
                      {registered("attention", block.attention), registered("feed_forward", block.feed_forward)});
    Tensor x = random_tensor({2, 5, 8}, 2);
    const auto& [attention, feed_forward] = std::tie(block.attention, block.feed_forward);
    Tensor seen = x + attention(x);
    expect_same("block(x)", block(x), seen + feed_forward(seen),
                "x = x + attention(x), and then x = x + feed_forward(x) with the new x.",
                {{"It is x itself: nothing has been added yet.", x},
                 {"That is stage 06's block: each part replaces x. It should add to it.", feed_forward(attention(x))},
                 {"The feed-forward reads the new x, but adds to the old one: what attention found is lost.",
                  x + feed_forward(seen)},
                 {"The feed-forward reads the old x. It should see what attention added.", seen + feed_forward(x)},
                 {"One way around both parts together. Each part has its own.", x + feed_forward(attention(x))},
                 {"The feed-forward replaces x. It should add to it, too.", feed_forward(seen)},
                 {"Attention replaces x. It should add to it, too.", attention(x) + feed_forward(attention(x))},
                 {"Only attention has added something yet.", seen}});
    expect_gradients(block, block(x), "Are both parts on the way?");
    return "Each part adds to x, and both are registered.";
}
