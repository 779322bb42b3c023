#include "common/nn/gradient_checkpointing.h"

#include <algorithm>
#include <utility>

#include "common/nn/dropout.h"
#include "common/tensor/node.h"

namespace babygpt {

namespace {

thread_local int checkpointed_blocks = 0;

}  // namespace

//> checkpoint
Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& also) {
    if (!grad_enabled()) return f(x);  // nothing is kept anyway
    DropoutScope::Stream stream = DropoutScope::current();
    Rng masks = stream.keys ? *stream.keys : Rng(0);  // where the stream of dropout masks stands
    auto forgetting = [&] {
        NoGrad forget;
        return f(x);
    };
    Tensor y = make_tensor(forgetting().node->value);
    y.node->wants_grad = true;  // f may have parameters even if x wants no gradient
    y.node->inputs = {x};
    if (also.node) y.node->inputs.push_back(also);
    y.node->hides_parameters = true;
    y.node->pullback = [f, x, stream, masks](Array& dy) {
        if (!grad_enabled()) fail("checkpoint: what is forgotten cannot be computed again under NoGrad");
        Tensor again_x = make_tensor(x.node->value);  // the walk from here ends at this copy of x
        again_x.node->wants_grad = x.wants_grad();
        Rng same_masks = masks;
        DropoutScope again({stream.keys ? &same_masks : nullptr, stream.first_row});
        Tensor again_y = f(again_x);
        if (again_y.node->pullback)
            again_y.backward(make_tensor(std::make_shared<Array>(std::move(dy))));
        else
            add_grad(again_y, std::move(dy));  // f gave back x, a parameter or a constant
        if (again_x.has_grad()) add_grad(x, std::move(again_x.node->grad));
    };
    return y;
}
//< checkpoint

CheckpointScope::CheckpointScope(int blocks)
    : before(std::exchange(checkpointed_blocks, blocks)) {}
CheckpointScope::~CheckpointScope() { checkpointed_blocks = before; }
int CheckpointScope::blocks() { return checkpointed_blocks; }

Tensor through_layers(size_t n, Tensor x, const std::function<Tensor(size_t i, const Tensor& x)>& layer,
                      const Tensor& also) {
    size_t k = checkpointed_blocks ? size_t(checkpointed_blocks) : n;
    for (size_t first = 0, last; first < n; first = last) {
        last = std::min(first + k, n);
        auto segment = [layer, first, last](Tensor y) {
            for (size_t i = first; i < last; ++i) y = layer(i, y);
            return y;
        };
        x = last < n ? checkpoint(segment, x, also) : segment(x);
    }
    return x;
}

}  // namespace babygpt
