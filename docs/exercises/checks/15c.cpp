// as shipped: cut out {0} and then {2}, query.weight[3, 0] is
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int C = 12, heads = 4, H = 3;
    auto fresh = [&] {
        Rng rng(2);
        return PrunableAttention(C, heads, rng);
    };
    NoGrad evaluation;
    Tensor x = random_tensor({2, 5, C}, 1);
    for (const std::vector<std::set<int>>& calls : std::vector<std::vector<std::set<int>>>{
             {{0, 2}}, {{2}, {0}}, {{0}, {2}}, {{1}, {1}}, {{0}, {1}, {3}}, {{1, 3}, {2, 3}}, {{0, 1}, {2}}}) {
        PrunableAttention attention = fresh(), whole = fresh();
        std::set<int> gone;
        std::string name = "cut out ";
        for (const std::set<int>& call : calls) {
            attention.prune_heads(call);
            gone.insert(call.begin(), call.end());
            name += (name.ends_with("out ") ? "" : " and then ") + list({call.begin(), call.end()});
        }
        std::vector<int> stay;
        for (int head = 0; head < heads; ++head)
            if (!gone.contains(head)) stay.push_back(head);
        std::string hint = calls.size() == 1 ? "In one call it was right before."
                                             : "After a first cut, where does head 2 stand? And who stands at place 2?";
        auto expected = [&](const Tensor& weight, int axis) { return slices(weight, axis, stay, H); };
        expect_same(name + ", query.weight", attention.query.weight, expected(whole.query.weight, 0), hint);
        expect_same(name + ", key.bias", attention.key.bias, expected(whole.key.bias, 0), hint);
        expect_same(name + ", output.weight", attention.output.weight, expected(whole.output.weight, 1), hint);
        expect(attention.heads_left == stay, name + ": heads_left is " + list(attention.heads_left), hint);
        Tensor silent = whole.output.weight;  // a head whose columns are 0 is not heard
        for (int row = 0; row < C; ++row)
            for (int head : gone) std::fill_n(silent.values().begin() + row * C + head * H, H, real(0));
        expect_same(name + ", result", attention(x), whole(x), hint);
    }
    return "A head keeps its number, however many have gone before it.";
}
