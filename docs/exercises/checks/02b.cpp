// as shipped: All of x is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int V = 5, C = 3, block_size = 5;
    Tensor token = random_tensor({V, C}, 1), position = random_parameter({block_size, C}, 2);
    for (auto [B, T] : {std::pair{2, 3}, {3, 5}, {1, 1}}) {
        Tokens ids(B, T, random_ids(size_t(B * T), V, 3));
        auto core = [&] { return embedding(token, ids) + embedding(position, positions(T)); };
        Tokens by_row(B, T), counted(B, T);
        for (int i = 0; i < B * T; ++i) by_row.ids[size_t(i)] = i / T, counted.ids[size_t(i)] = i % block_size;
        std::string hint = "x[b, t] is the row of the character plus the row of the place t.";
        expect_same("x", embed(ids, token, position), core(), hint,
                    {{"The position is missing.", embedding(token, ids)},
                     {"Row b of the batch has got position b. The place is t: every row begins at place 0.",
                      embedding(token, ids) + embedding(position, by_row)},
                     {"The places go on counting from one row of the batch to the next. Each row begins at place 0.",
                      embedding(token, ids) + embedding(position, counted)}});

        Tensor dx = random_tensor({B, T, C}, 4), last = Tensor::zeros({block_size, C});
        Tensor expected = core_gradients(core, {position}, dx)[0];
        std::ranges::copy(std::as_const(dx).values().last(size_t(T * C)), last.values().begin());
        expect_same(
            "dposition", position_gradient(dx, block_size), expected, "dposition[t] = sum over b of dx[b, t].",
            {{"Only the last row of the batch has sent its share: add with +=.", last},
             {"That is the mean over the batch. Each row sends its whole share: a sum.", expected / double(B)}});
    }
    return "Characters and places add up, and every row of the batch sends its share to the places.";
}
