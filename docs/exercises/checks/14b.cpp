// as shipped: self, nothing kept: there is no key
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int B = 2, T = 3, S = 5, C = 4;
    Tensor x = random_tensor({B, T, C}, 1), read = random_tensor({B, S, C}, 2), old = random_tensor({B, 4, C}, 3);
    int computed = 0;
    Of of = [&](const Tensor& y) {
        ++computed;
        return Kept{y * 2.0, y * 3.0};
    };
    auto same = [&](const std::string& name, bool is_cross, const Kept& past, const Kept& expected, int times) {
        computed = 0;
        Kept found = keys_and_values(is_cross, x, read, past, of);
        expect(found.key.node && found.value.node, name + ": there is no key", "Of what is it to be computed?");
        expect_same(name + ": key", found.key, expected.key, "See the four lines at the top.");
        expect_same(name + ": value", found.value, expected.value, "The same places as the keys, and of() makes both.");
        expect(computed == times, str(name, ": of() was called ", computed, " times, not ", times),
               "A cache is there so that nothing is computed twice.");
    };
    Kept fresh{x * 2.0, x * 3.0}, kept{old, old * 5.0}, of_read{read * 2.0, read * 3.0};
    same("self, nothing kept", false, {}, fresh, 1);
    same("self, with cache", false, kept, {concat({kept.key, fresh.key}, 1), concat({kept.value, fresh.value}, 1)}, 1);
    same("cross, nothing kept", true, {}, of_read, 1);
    same("cross, with cache", true, of_read, of_read, 0);
    return "Each of the four gives its keys and values, and none is computed twice.";
}
