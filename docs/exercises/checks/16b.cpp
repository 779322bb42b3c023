// as shipped: f was given 6 places at once
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    Tensor x = random_parameter({2, 6, 3}, 1), up = random_parameter({8, 3}, 2), down = random_parameter({5, 8}, 3);
    std::vector<int> seen;
    auto f = [&](const Tensor& part) {
        seen.push_back(part.size(1));
        return linear(relu(linear(part, up)), down);
    };
    Tensor whole = linear(relu(linear(x, up)), down), dy = random_tensor({2, 6, 5}, 4);
    auto plain = core_gradients([&] { return linear(relu(linear(x, up)), down); }, {x, up, down}, dy);
    for (int chunk : {1, 2, 3, 6, 0}) {
        seen.clear();
        Tensor found = in_chunks(f, x, chunk);
        int wanted = chunk ? chunk : 6;
        for (int places : seen)
            expect(places == wanted, str("f was given ", places, " places at once, with a chunk of ", chunk),
                   "It should see (B, chunk, C): places t to t + chunk - 1 of axis 1.");
        expect(int(seen.size()) == 6 / wanted, str("f was called ", seen.size(), " times, with a chunk of ", chunk),
               "Once for each chunk.");
        expect_same(str("in_chunks with a chunk of ", chunk), found, whole,
                    "The parts belong side by side along axis 1.");
        auto gradients = core_gradients([&] { return in_chunks(f, x, chunk); }, {x, up, down}, dy);
        for (size_t i = 0; i < plain.size(); ++i)
            expect_same("the gradient in chunks", gradients[i], plain[i], "It should be that of the whole.");
    }
    for (int chunk : {4, 5, 12}) {
        std::string said = "nothing",
                    wanted = str("The dimension to be chunked 6 has to be a multiple of the chunk size ", chunk);
        try {
            in_chunks(f, x, chunk);
        } catch (const Error& error) {
            said = error.what();
        }
        expect(said == wanted, str("6 places and a chunk of ", chunk, ": it says \"", said, "\""),
               "It should fail with \"" + wanted + "\".");
    }
    return "The same numbers and gradients in parts, and a clear word where it does not come out even.";
}
