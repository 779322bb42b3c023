// as shipped: query.weight has the shape (12,12), expected (9,12)
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int C = 12, H = 3;
    auto rows = [&](const Tensor& x, const std::vector<int>& heads, int axis) {
        std::vector<Tensor> parts;
        for (int head : heads) parts.push_back(slice(x, axis, head * H, (head + 1) * H));
        return concat(parts, axis);
    };
    for (const std::vector<int>& heads : {std::vector{0, 1, 3}, {2}, {0, 1, 2, 3}, {1, 2}}) {
        Rng rng(1);
        Linear query(C, C, rng), key(C, C, rng), value(C, C, rng), output(C, C, rng);
        auto copy = [](const Tensor& x) { return Tensor(x.shape(), x.values()); };
        std::vector<std::pair<Tensor, Tensor>> before;
        for (Linear* each : {&query, &key, &value, &output}) before.push_back({copy(each->weight), copy(each->bias)});
        std::string call = "after keep_heads(..., " + list(heads) + ", 3) ";
        keep_heads(query, key, value, output, heads, H);
        Linear* parts[] = {&query, &key, &value};
        const char* names[] = {"query", "key", "value"};
        for (size_t i = 0; i < 3; ++i) {
            expect_same(call + names[i] + ".weight", parts[i]->weight, rows(before[i].first, heads, 0),
                        "Rows: what comes out of it. Head h owns rows h * H to (h + 1) * H - 1.",
                        {{"Columns were cut instead of rows: what goes in is still all C numbers.",
                          rows(before[i].first, heads, 1)}});
            expect_same(call + names[i] + ".bias", parts[i]->bias, rows(before[i].second, heads, 0),
                        "The biases go with their rows.");
        }
        expect_same(
            call + "output.weight", output.weight, rows(before[3].first, heads, 1),
            "Columns: what goes in comes from the heads.",
            {{"Rows were cut instead of columns: C numbers still have to come out.", rows(before[3].first, heads, 0)}});
        expect_same(call + "output.bias", output.bias, before[3].second, "output's bias belongs to no head: it stays.");
        expect(
            query.parameters[0].tensor.node == query.weight.node &&
                query.parameters[0].tensor.size(0) == H * int(heads.size()),
            "query.parameters does not have the small weight",
            "weight = other makes a new tensor that the optimiser has never heard of; weight.replace(other) does not.");
    }
    return "Rows, biases and columns: the layer is smaller, and its parameters know it.";
}
