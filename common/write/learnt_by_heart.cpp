#include "common/write/learnt_by_heart.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace babygpt {

namespace {

// Calls f with the hash and the start of each run of `length` tokens, until it returns true. The hash rolls (Rabin and
// Karp): a token comes in, a token goes out.
template <class F>
void for_each_run(std::span<const int> tokens, size_t length, F f) {
    constexpr uint64_t base = 0x9E3779B97F4A7C15;
    uint64_t hash = 0, weight = 1;  // weight: base to the power of length
    for (size_t end = 1; end <= tokens.size(); ++end) {
        hash = hash * base + uint64_t(tokens[end - 1]);
        if (end > length)
            hash -= weight * uint64_t(tokens[end - 1 - length]);
        else
            weight *= base;
        if (end >= length && f(hash, end - length)) return;
    }
}

}  // namespace

std::vector<int> longest_shared_run(std::span<const int> sample, std::span<const int> text) {
    std::span<const int> best;
    for (bool longer = true; longer;) {  // looks for a longer run, from where the last one was found
        longer = false;
        size_t wanted = best.size() + 1;
        std::unordered_map<uint64_t, size_t> starts;  // of the sample's runs, by their hash
        for_each_run(sample, wanted, [&](uint64_t hash, size_t start) { return starts.emplace(hash, start), false; });
        for_each_run(text, wanted, [&](uint64_t hash, size_t start) {
            auto found = starts.find(hash);
            if (found == starts.end()) return false;
            std::span<const int> ours = sample.subspan(found->second), theirs = text.subspan(start);
            auto differ = std::ranges::mismatch(ours, theirs).in1;
            size_t same = size_t(differ - ours.begin());
            if (same < wanted) return false;  // only the hash was the same
            best = theirs.first(same), text = theirs;
            return longer = true;
        });
    }
    return {best.begin(), best.end()};
}

}  // namespace babygpt
