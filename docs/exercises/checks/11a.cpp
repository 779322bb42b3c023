// as shipped: All of result is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    for (auto [T, H, deviation] : {std::tuple{5, 4, 1.0}, {9, 3, 2.0}, {3, 2, 30.0}}) {
        Tensor q = random_tensor({1, T, H}, 1, deviation), k = random_tensor({1, T, H}, 2, deviation);
        Tensor v = random_tensor({1, T, H}, 3);
        const double root = std::sqrt(double(H));
        Tensor expected = head_sums(q, k, v, root, !tril(T)), unscaled = head_sums(q, k, v, 1, !tril(T));
        Mask without_self = !tril(T);
        for (size_t t = 1; t < size_t(T); ++t) without_self.values[t * size_t(T) + t] = 1;
        Tensor blind = head_sums(q, k, v, root, without_self);
        Tensor even = head_sums(Tensor::zeros(q.shape()), k, v, 1, !tril(T));
        auto row = [H = size_t(H)](const Tensor& x, size_t t) { return std::as_const(x).values().subspan(t * H, H); };
        auto kept = [&](const Tensor& x, size_t t) {
            return Numbers({int(t) + 1, H}, x.values().first((t + 1) * size_t(H)));
        };
        Cache cache;
        for (size_t t = 0; t < size_t(T); ++t) {
            std::string place = str("At place ", t, ", with ", t, " kept before: ");
            std::vector<real> result = attend(cache, row(q, t), row(k, t), row(v, t));
            auto at = [&, t = t](const Tensor& x) { return Numbers({int(x.size(2))}, row(x, t)); };
            expect_same("result", result, at(expected),
                        place + "result = sum over j of weights[j] * values[j], and the weights sum to 1.",
                        {{place + "the new place does not look at itself: append first, then attend.", at(blind)},
                         {place + "the scores are not divided by sqrt(H).", at(unscaled)},
                         {place + "all weights are equal: what do the scores say?", at(even)}});
            expect(cache.length == t + 1, str(place, "length is now ", cache.length, ", expected ", t + 1, "."),
                   "It grows by 1 with each place.");
            Shape shape{int(cache.keys.size()) / H, H};
            expect_same("keys", {shape, cache.keys}, kept(k, t), place + "every key is kept, in order.");
            expect_same("values", {shape, cache.values}, kept(v, t), place + "every value is kept, in order.");
        }
    }
    return "Place by place it gives what the whole head gives, also for large scores.";
}
