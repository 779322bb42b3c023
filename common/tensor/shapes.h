// What the files that define operations ask about shapes.
#pragma once
#include "common/tensor/node.h"

namespace babygpt {

inline std::string shapes(const Tensor& a, const Tensor& b) {
    return to_string(a.shape()) + " and " + to_string(b.shape());
}

// x seen as rows of its last axis
inline size_t row_length(const Tensor& x) { return size_t(x.size(-1)); }
inline size_t row_count(const Tensor& x) { return x.count() / row_length(x); }

inline std::shared_ptr<Array> like(const Tensor& x) { return make_array(value(x).shape()); }

}  // namespace babygpt
