// Writing with caches: a model reads only what is new.
#pragma once
#include <algorithm>

#include "common/write/sampler.h"

namespace babygpt {

//> writer
// Scores of the next character by a model that takes new tokens and a cache for each of its blocks. Past the block size
// the window slides, and all characters stand at other places: no key or value is right any more, all is read again.
template <class Cache, class Model>
NextLogits cached_writer(const Model& model, int block_size) {
    std::vector<Cache> caches(model.blocks.size());
    std::vector<int> read;  // the tokens that are in the caches
    return [&model, block_size, caches, read](std::span<const int> context) mutable {
        NoGrad writing;
        std::span<const int> window = context.last(std::min(context.size(), size_t(block_size)));
        bool goes_on = read.size() < window.size() && std::equal(read.begin(), read.end(), window.begin());
        if (!goes_on) caches.assign(caches.size(), Cache()), read.clear();
        std::span<const int> fresh = window.subspan(read.size());
        read.insert(read.end(), fresh.begin(), fresh.end());
        Tensor logits = model(Tokens(1, int(fresh.size()), {fresh.begin(), fresh.end()}), caches);  // (1, new, V)
        auto last = logits.values().last(size_t(logits.size(-1)));
        return std::vector<real>(last.begin(), last.end());
    };
}
//< writer

//> sliding
// The same for a model that knows how far apart characters are and not where they stand: past the block size the oldest
// key and value are dropped, and nothing is read again.
template <class Cache, class Model>
NextLogits sliding_writer(const Model& model, int block_size) {
    std::vector<Cache> caches(model.blocks.size());
    std::vector<int> read;  // all tokens since the text began
    return [&model, block_size, caches, read](std::span<const int> context) mutable {
        NoGrad writing;
        bool goes_on = read.size() < context.size() && std::equal(read.begin(), read.end(), context.begin());
        if (!goes_on) caches.assign(caches.size(), Cache()), read.clear();
        Tensor logits;
        while (read.size() < context.size()) {  // as many as there is room for; with a full block, one by one
            if (caches[0].length() == block_size)
                for (Cache& cache : caches) cache.drop_oldest();
            int room = block_size - caches[0].length();
            std::span<const int> fresh =
                context.subspan(read.size()).first(std::min(size_t(room), context.size() - read.size()));
            read.insert(read.end(), fresh.begin(), fresh.end());
            logits = model(Tokens(1, int(fresh.size()), {fresh.begin(), fresh.end()}), caches);  // (1, new, V)
        }
        auto last = logits.values().last(size_t(logits.size(-1)));
        return std::vector<real>(last.begin(), last.end());
    };
}
//< sliding

struct Writer {  // one of several ways to write the same
    std::string name;
    NextLogits next;
};

// Lets all write the same text, in several lengths, and prints how fast each is and how far their scores differ.
void compare_writers(const std::vector<Writer>& writers, const Options& options);

}  // namespace babygpt
