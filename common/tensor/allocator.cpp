#include "common/tensor/allocator.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>

#include "common/base/memory.h"

namespace babygpt {

namespace {

constexpr size_t line = 64, page = 4096, large = size_t{64} << 20;
std::atomic<size_t> live = 0, peak = 0;
std::atomic<size_t> checked = 0;  // how many bytes were live when the system's free memory was last looked up

// malloc gives large blocks back to the system when they are freed, and the next training step pays for every page
// again. Here it keeps them: all but single ones above 32 MB, which is its limit, and what is free beyond 1 GB.
const bool kept = mallopt(M_MMAP_THRESHOLD, 32 << 20) && mallopt(M_TRIM_THRESHOLD, 1 << 30);

}  // namespace

void* allocate_array(size_t bytes) {
    // Linux promises memory it does not have and kills the program later, so what is free is looked up before a large
    // wish, and whenever small ones have added up to a large one.
    if (bytes >= large || live + bytes >= checked + large) {
        require_memory(bytes + large, "the model with its activations");
        checked = live + bytes;
    }
    // Vectors of a weight matrix should not cross cache lines; for small arrays, of which a model that writes makes a
    // hundred for each character, aligned memory costs more than it brings.
    void* block = bytes < page ? std::malloc(bytes) : std::aligned_alloc(line, (bytes + line - 1) / line * line);
    if (!block)
        throw OutOfMemory(str("not enough memory: an array wants ", readable_size(bytes), "; choose smaller sizes"));
    size_t now = live += bytes, most = peak;
    while (now > most && !peak.compare_exchange_weak(most, now)) continue;
    return block;
}

void free_array(void* block, size_t bytes) {
    live -= bytes;
    std::free(block);
}

size_t live_bytes() { return live; }
size_t peak_bytes() { return peak; }
void reset_peak() { peak = live.load(); }

}  // namespace babygpt
