// Memory for arrays: malloc's, and counted.
#pragma once
#include <cstddef>
#include <cstdint>

namespace babygpt {

size_t live_bytes();  // of all arrays, on all threads
size_t peak_bytes();  // the most that were live at once, since the start or the last reset_peak()
void reset_peak();

void* allocate_array(size_t bytes);  // throws Error with the size wanted when there is no memory
void free_array(void* block, size_t bytes);

template <class T>
struct ArrayAllocator {  // for the standard library's and xtensor's containers
    using value_type = T;
    ArrayAllocator() = default;
    template <class U>
    ArrayAllocator(const ArrayAllocator<U>&) {}
    T* allocate(size_t n) {
        return static_cast<T*>(allocate_array(n > PTRDIFF_MAX / sizeof(T) ? PTRDIFF_MAX : n * sizeof(T)));
    }
    void deallocate(T* p, size_t n) { free_array(p, n * sizeof(T)); }
    bool operator==(const ArrayAllocator&) const { return true; }
};

}  // namespace babygpt
