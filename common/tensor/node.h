// The inside of a Tensor, for the files that define operations.
#pragma once
#include <functional>

#include "common/tensor/array.h"
#include "common/tensor/tensor.h"

namespace babygpt {

struct Node {
    Node() = default;
    Node(const Node&) = delete;
    ~Node();  // iterative: a deep graph that nobody walked must not overflow the stack

    std::shared_ptr<Array> value;  // shared: a pullback may keep it, and the replicas of a parameter have it in common
    Array grad = no_numbers();
    bool has_grad = false;
    bool wants_grad = false;
    enum { unseen, listed, done } walk = unseen;  // by backward()
    bool hides_parameters = false;                // the pullback adds to gradients of more than the inputs
    std::vector<Tensor> inputs;
    std::function<void(Array& dy)> pullback;  // given dloss/dvalue, adds to the inputs' gradients; may use dy up
};

inline Array& value(const Tensor& x) {
    if (!x.node || !x.node->value)
        fail("a tensor is used that has no numbers: it was never given any, or was moved from");
    return *x.node->value;
}
inline std::shared_ptr<Array> make_array(const Array::shape_type& shape) { return std::make_shared<Array>(shape); }

// A constant, or with a pullback the result of an operation on inputs. The pullback captures the inputs and what it
// saved of the values, never the result itself: a node that owns itself is never freed.
Tensor make_tensor(std::shared_ptr<Array> value);
template <class Pullback>
Tensor make_result(std::shared_ptr<Array> value, std::vector<Tensor> inputs, Pullback pullback) {
    Tensor result = make_tensor(std::move(value));
    bool wanted = false;
    for (const Tensor& input : inputs) wanted = wanted || input.wants_grad();
    if (wanted && grad_enabled()) {
        result.node->wants_grad = true;
        result.node->inputs = std::move(inputs);
        result.node->pullback = std::move(pullback);
    }
    return result;
}

// x's array to write a result into when nobody will read x again (a temporary), otherwise nothing. x's own gradient
// must then arrive through add_grad, which knows the shape.
std::shared_ptr<Array> take_value(Tensor& x);

// Two ways to deliver a gradient to an input that wants one.
void add_grad(const Tensor& x, Array&& dx);
// Memory of x's gradient to add to; `beta` is 0 when it holds nothing yet (overwrite it), 1 when it does (add to it).
struct GradTarget {
    real* data;
    real beta;
};
GradTarget grad_target(const Tensor& x);
real* zeroed_grad_target(const Tensor& x);  // the same, always to add to

// While one lives, backward() on this thread tells of a parameter as soon as it will add no more to its gradient. It
// tells of none if the graph hides some.
class GradientScope {
  public:
    using Tell = std::function<void(const Node& parameter)>;
    explicit GradientScope(Tell tell);
    ~GradientScope();
    GradientScope(const GradientScope&) = delete;

  private:
    Tell tell;
    const Tell* before;
};

}  // namespace babygpt
