#include "common/nn/dropout.h"

#include <utility>

namespace babygpt {

namespace {

thread_local DropoutScope::Stream dropout_stream;

}  // namespace

DropoutScope::DropoutScope(Stream stream)
    : before(std::exchange(dropout_stream, stream)) {}
DropoutScope::~DropoutScope() { dropout_stream = before; }
DropoutScope::Stream DropoutScope::current() { return dropout_stream; }

Tensor Dropout::operator()(Tensor x) const {
    if (!dropout_stream.keys || p == 0) return x;
    return dropout(std::move(x), p, dropout_stream.keys->next(), dropout_stream.first_row);
}

Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v, int n_head, const Dropout& dropout) {
    if (!dropout_stream.keys || dropout.p == 0) return causal_attention(q, k, v, n_head);
    return causal_attention(q, k, v, n_head, dropout.p, dropout_stream.keys->next(), dropout_stream.first_row);
}

}  // namespace babygpt
