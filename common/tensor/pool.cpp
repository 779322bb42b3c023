#include "common/tensor/pool.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <vector>

#include "common/base/error.h"
#include "common/base/memory.h"

namespace babygpt {

namespace {

constexpr size_t line = 64, huge_page = size_t{2} << 20, large = size_t{64} << 20;
std::atomic<size_t> unchecked = 0;  // bytes taken from the system since its free memory was last looked up
std::atomic<size_t> live = 0, peak = 0;

// Sizes go up in quarters of a power of two, so a block wastes at most a fifth and there are few kinds of it.
struct SizeClass {
    size_t index, bytes;
};
SizeClass size_class(size_t bytes) {
    if (bytes <= 4 * line) {
        size_t lines = bytes ? (bytes + line - 1) / line : 1;
        return {lines - 1, lines * line};
    }
    size_t power = std::bit_width(bytes - 1) - 1, quarter = size_t{1} << (power - 2);
    size_t quarters = (bytes + quarter - 1) / quarter;  // 5 to 8
    return {4 + (power - 8) * 4 + quarters - 5, quarters * quarter};
}

struct Pool {
    std::array<std::vector<void*>, 256> free;
    ~Pool() {
        for (auto& blocks : free)
            for (void* block : blocks) std::free(block);
        gone = true;
    }
    static thread_local bool gone;  // arrays that outlive their thread's pool go straight back to the system
};
thread_local bool Pool::gone = false;
thread_local Pool pool;

void* block_of(size_t bytes) {
    auto [index, rounded] = size_class(bytes);
    if (bytes < PTRDIFF_MAX && !Pool::gone && !pool.free[index].empty()) {
        void* block = pool.free[index].back();
        pool.free[index].pop_back();
        return block;
    }
    // Linux promises memory it does not have and kills the program later, so what is free is looked up before a large
    // wish, and whenever small ones have added up to a large one.
    if ((unchecked += rounded) >= large) {
        require_memory(bytes + large, "the model with its activations");
        unchecked = 0;
    }
    size_t alignment = rounded >= huge_page ? huge_page : line;
    void* block = std::aligned_alloc(alignment, (rounded + alignment - 1) / alignment * alignment);
    if (!block) fail("not enough memory: an array wants ", readable_size(bytes), "; choose smaller sizes");
    if (alignment == huge_page)
        madvise(block, rounded, MADV_HUGEPAGE);  // fewer page faults; a hint, free to be ignored
    return block;
}

}  // namespace

void* pool_allocate(size_t bytes) {
    void* block = block_of(bytes);
    size_t now = live += bytes, most = peak;
    while (now > most && !peak.compare_exchange_weak(most, now)) continue;
    return block;
}

void pool_release(void* block, size_t bytes) {
    live -= bytes;
    if (Pool::gone)
        std::free(block);
    else
        pool.free[size_class(bytes).index].push_back(block);
}

size_t live_bytes() { return live; }
size_t peak_bytes() { return peak; }
void reset_peak() { peak = live.load(); }

}  // namespace babygpt
