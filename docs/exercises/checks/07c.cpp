// as shipped: the block hands out x itself
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    Options o{.n_embd = 8, .n_head = 2};
    Rng rng(1), another(1);
    Block block(o, rng), silent(o, another);
    Tensor x = random_tensor({2, 5, 8}, 2);
    for (const auto& parameter : silent.feed_forward.parameters) fill(parameter.tensor, 0);
    expect_same("block(x)", silent(x), x + silent.attention(x),
                "In this check the feed-forward gives 0 for everything. The block should give x + attention(x).",
                {{"With a feed-forward that says nothing the block hands out x itself: what attention found is lost. "
                  "Draw the two ways around as arrows: where does each begin, and where does it end?",
                  x}});
    Tensor seen = x + block.attention(x);
    expect_same(
        "block(x)", block(x), seen + block.feed_forward(seen),
        "x + attention(x) comes through now. The feed-forward should read it, and add to it.",
        {{"The feed-forward reads the old x. It should see what attention added.", seen + block.feed_forward(x)}});
    return "What attention finds comes through, whatever the feed-forward says.";
}
