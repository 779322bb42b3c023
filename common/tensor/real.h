// The scalar type of everything: float to train, double where the tests compare gradients with finite differences.
#pragma once

namespace babygpt {

#ifdef BABYGPT_DOUBLE
using real = double;
#else
using real = float;
#endif

}  // namespace babygpt
