// Tensors with gradients. A Tensor is a cheap handle to a node of a graph: a value, and how a gradient flows back from
// it to the tensors it was made of. Operations are in ops.h.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/tensor/real.h"

namespace babygpt {

struct Node;
using Shape = std::vector<int>;

class Tensor {
  public:
    Tensor() = default;
    Tensor(const Shape& shape, std::span<const real> values);
    Tensor(const Shape& shape, std::initializer_list<real> values)
        : Tensor(shape, std::span(values.begin(), values.size())) {}
    static Tensor zeros(const Shape& shape);
    static Tensor empty(const Shape& shape);      // numbers left in memory by others: to be filled at once
    static Tensor parameter(const Shape& shape);  // zeros that want a gradient

    Shape shape() const;
    int size(int axis) const;  // size(-1) is the last axis's
    size_t count() const;      // of all its numbers
    std::span<const real> values() const;
    std::span<real> values();  // to initialise it, or to change it between steps; never while a graph holds it
    real item() const;         // the number in a tensor that holds one
    bool wants_grad() const;

    // Walks the graph from this tensor back to the parameters, adding to their gradients. It starts from a single
    // number, such as a loss, or from the gradient given. The graph is freed on the way, so it can be walked once.
    void backward(const Tensor& gradient = {});
    bool has_grad() const;
    std::span<const real> grad() const;  // of the loss with respect to this parameter; same shape
    std::span<real> grad();
    void clear_grad();  // the next backward() starts from nothing

    void replace(const Tensor& other);  // a parameter gets other numbers, and perhaps another shape, in every handle
    void share_values(const Tensor& other);  // see other's numbers as one's own; gradients stay apart

    std::shared_ptr<Node> node;
};

std::string to_string(const Shape& shape);  // "(32,8,64)"

// While it lives, operations on this thread do not record the graph: for evaluation and sampling.
class NoGrad {
  public:
    NoGrad();
    ~NoGrad();
    NoGrad(const NoGrad&) = delete;

  private:
    bool before;
};
bool grad_enabled();  // no NoGrad on this thread

}  // namespace babygpt
