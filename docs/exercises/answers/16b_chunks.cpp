// Task 16b: a layer in chunks along the places.
//
// f treats every place of x (B, T, C) alike and alone, as a feed-forward layer does. Give it `chunk` places at a time,
// (B, chunk, C), and put what it returns together again, (B, T, ...). A chunk of 0 means all places at once. Where T is
// no multiple of chunk, fail("...") with the text that Hugging Face's code has, for T = 7 and chunk = 2:
//     The dimension to be chunked 7 has to be a multiple of the chunk size 2
//
// Check it: make exercise N=16b
// Hint: slice(x, axis, first, last) and concat(parts, axis); fail takes the pieces of its text one by one.
#include <functional>
#include <vector>

#include "common/nn/nn.h"
using namespace babygpt;

Tensor in_chunks(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, int chunk) {
    if (chunk == 0) return f(x);
    int T = x.size(1);
    if (T % chunk) fail("The dimension to be chunked ", T, " has to be a multiple of the chunk size ", chunk);
    std::vector<Tensor> parts;
    for (int t = 0; t < T; t += chunk) parts.push_back(f(slice(x, 1, t, t + chunk)));
    // Under NoGrad only one chunk's inside is there at a time. While training all of them stay for the way back, and
    // nothing is won, unless each is a checkpoint: checkpoint(f, slice(...)), where f is a copy that lives on.
    return concat(parts, 1);
}
