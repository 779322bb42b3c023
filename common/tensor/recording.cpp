#include "common/tensor/recording.h"

#include <utility>

namespace babygpt {

namespace {

thread_local Recording* of_this_thread = nullptr;

}  // namespace

Recording::Recording()
    : before(std::exchange(of_this_thread, this)) {}
Recording::~Recording() { of_this_thread = before; }

bool is_recorded() { return of_this_thread; }

Tensor recorded(const Tensor& weight, Tensor&& result) {
    if (of_this_thread) of_this_thread->entries.push_back({weight, result});
    return std::move(result);
}

}  // namespace babygpt
