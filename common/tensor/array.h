// Arrays are xtensor's, row-major, in memory that is counted. Only the core's own files include this: xtensor takes
// seconds to compile, and whoever edits a stage should not wait for it.
#pragma once
#include <xtensor/xarray.hpp>
#include <xtensor/xnoalias.hpp>

#include "common/tensor/allocator.h"
#include "common/tensor/real.h"

namespace babygpt {

using Array =
    xt::xarray_container<xt::uvector<real, ArrayAllocator<real>>, xt::layout_type::row_major, xt::svector<size_t, 4>>;

inline Array no_numbers() { return Array(Array::shape_type{0}); }  // Array() would hold one, and take memory for it

}  // namespace babygpt
