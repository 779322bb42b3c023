// Memory for arrays. The system's allocator gives large blocks back to the kernel when they are freed, and the next
// training step pays for every page again; here a freed block is kept by its thread and serves the next array of its
// size. What arrays hold is counted.
#pragma once
#include <cstddef>
#include <cstdint>

namespace babygpt {

// Aligned to a cache line. Throws Error with the size wanted when there is no memory.
void* pool_allocate(size_t bytes);
void pool_release(void* block, size_t bytes);

size_t live_bytes();  // of all arrays, on all threads; what the pool keeps for later does not count
size_t peak_bytes();  // the most that were live at once, since the start or the last reset_peak()
void reset_peak();

template <class T>
struct PoolAllocator {  // for the standard library's and xtensor's containers
    using value_type = T;
    PoolAllocator() = default;
    template <class U>
    PoolAllocator(const PoolAllocator<U>&) {}
    T* allocate(size_t n) {
        if (n > PTRDIFF_MAX / sizeof(T)) return static_cast<T*>(pool_allocate(PTRDIFF_MAX));
        return static_cast<T*>(pool_allocate(n * sizeof(T)));
    }
    void deallocate(T* p, size_t n) { pool_release(p, n * sizeof(T)); }
    bool operator==(const PoolAllocator&) const { return true; }
};

}  // namespace babygpt
