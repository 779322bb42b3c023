// What the files that define operations ask about shapes.
#pragma once
#include <algorithm>

#include "common/tensor/node.h"

namespace babygpt {

inline std::string shapes(const Tensor& a, const Tensor& b) {
    return to_string(a.shape()) + " and " + to_string(b.shape());
}

// What two shapes become together: aligned at the last axis, sizes of 1 repeated, but for the last `apart` axes.
template <class S>
S broadcast_shape(const char* op, const S& a, const S& b, size_t apart = 0) {
    S longer = a.size() < b.size() ? b : a;
    const S& shorter = a.size() < b.size() ? a : b;
    size_t ahead = longer.size() - shorter.size();
    for (size_t i = 0; i + apart < shorter.size(); ++i) {
        auto &m = longer[ahead + i], n = shorter[i];
        if (m != n && m != 1 && n != 1)
            fail(op, ": ", to_string(Shape(a.begin(), a.end())), " and ", to_string(Shape(b.begin(), b.end())),
                 " do not fit: sizes ", m, " and ", n, " differ and neither is 1");
        m = std::max(m, n);
    }
    return longer;
}

// x seen as rows of its last axis
inline size_t row_length(const Tensor& x) { return size_t(x.size(-1)); }
inline size_t row_count(const Tensor& x) { return x.count() / row_length(x); }

inline std::shared_ptr<Array> like(const Tensor& x) { return make_array(value(x).shape()); }

}  // namespace babygpt
