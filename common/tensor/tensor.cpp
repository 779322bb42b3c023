#include "common/tensor/tensor.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/tensor/node.h"

namespace babygpt {

namespace {

thread_local bool recording = true;
thread_local const GradientScope::Tell* telling = nullptr;

Array::shape_type array_shape(const Shape& shape) {
    for (int n : shape)
        if (n < 1) fail("a tensor of shape ", to_string(shape), ": every size must be at least 1");
    return {shape.begin(), shape.end()};
}

// The nodes of a graph, every one after all it was made of. When it ends, none of them is left marked as listed: an
// error in the middle must not hide them from a later backward().
class SortedGraph {
  public:
    // Iterative: a deep model must not overflow the stack.
    explicit SortedGraph(const std::shared_ptr<Node>& root) {
        std::vector<std::pair<std::shared_ptr<Node>, size_t>> path;  // a node, and how many of its inputs were visited
        auto visit = [&](const std::shared_ptr<Node>& node) {
            if (node->walk == Node::done) walked_before = true;
            if (node->walk != Node::unseen || !node->pullback) return;
            node->walk = Node::listed;
            path.emplace_back(node, 0);
        };
        visit(root);
        while (!path.empty()) {
            auto& [node, next] = path.back();
            if (next < node->inputs.size()) {
                visit(node->inputs[next++].node);
            } else {
                order.push_back(std::move(node));
                path.pop_back();
            }
        }
    }
    ~SortedGraph() {
        for (const std::shared_ptr<Node>& node : order) node->walk = Node::unseen, node->has_grad = false;
    }

    std::vector<std::shared_ptr<Node>> order;
    bool walked_before = false;  // by an earlier backward(), which has freed a part of it
};

// Counts how many nodes of a graph have still to add to each parameter's gradient.
class OpenGradients {
  public:
    explicit OpenGradients(const SortedGraph& graph)
        : tell(std::exchange(telling, nullptr)) {  // a walk inside of a pullback sees a part of the graph only
        if (!tell) return;
        for (const std::shared_ptr<Node>& node : graph.order)
            for (const Tensor& input : node->inputs)
                if (input.wants_grad() && !input.node->pullback) ++open[input.node.get()];
        if (std::ranges::any_of(graph.order, [](const auto& node) { return node->hides_parameters; })) open.clear();
    }
    ~OpenGradients() { telling = tell; }
    OpenGradients(const OpenGradients&) = delete;

    void added(const Node& node) {
        for (const Tensor& input : node.inputs)
            if (auto found = open.find(input.node.get()); found != open.end() && --found->second == 0)
                (*tell)(*found->first);
    }

  private:
    const GradientScope::Tell* tell;
    std::unordered_map<const Node*, int> open;
};

}  // namespace

GradientScope::GradientScope(Tell t)
    : tell(std::move(t)),
      before(std::exchange(telling, &tell)) {}
GradientScope::~GradientScope() { telling = before; }

Node::~Node() {
    thread_local std::vector<std::shared_ptr<Node>>* waiting = nullptr;  // inputs of the nodes being freed further up
    std::vector<std::shared_ptr<Node>> list;
    bool outermost = !waiting;
    if (outermost) waiting = &list;
    for (Tensor& input : inputs) waiting->push_back(std::move(input.node));  // kept while the pullback lets go of them
    pullback = nullptr;
    if (!outermost) return;
    while (!list.empty()) {
        std::shared_ptr<Node> next = std::move(list.back());
        list.pop_back();
    }
    waiting = nullptr;
}

bool grad_enabled() { return recording; }
NoGrad::NoGrad()
    : before(recording) {
    recording = false;
}
NoGrad::~NoGrad() { recording = before; }

std::string to_string(const Shape& shape) {
    std::string text = "(";
    for (size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
    return text + ")";
}

Tensor make_tensor(std::shared_ptr<Array> value) {
    Tensor result;
    result.node = std::make_shared<Node>();
    result.node->value = std::move(value);
    return result;
}

Tensor::Tensor(const Shape& shape, std::span<const real> values)
    : Tensor(make_tensor(make_array(array_shape(shape)))) {
    if (values.size() != count())
        fail("a tensor of shape ", to_string(shape), " holds ", count(), " numbers, but ", values.size(),
             " were given");
    std::copy(values.begin(), values.end(), value(*this).begin());
}

Tensor Tensor::empty(const Shape& shape) { return make_tensor(make_array(array_shape(shape))); }

Tensor Tensor::zeros(const Shape& shape) {
    Tensor result = empty(shape);
    value(result).fill(0);
    return result;
}

Tensor Tensor::parameter(const Shape& shape) {
    Tensor result = zeros(shape);
    result.node->wants_grad = true;
    return result;
}

Shape Tensor::shape() const { return {value(*this).shape().begin(), value(*this).shape().end()}; }

int Tensor::size(int axis) const {
    int axes = int(value(*this).dimension());
    if (axis < -axes || axis >= axes)
        fail("size(", axis, ") of a tensor of shape ", to_string(shape()), ": no such axis");
    return int(value(*this).shape(size_t(axis < 0 ? axis + axes : axis)));
}

size_t Tensor::count() const { return value(*this).size(); }
std::span<const real> Tensor::values() const { return {value(*this).data(), count()}; }
std::span<real> Tensor::values() { return {value(*this).data(), count()}; }
bool Tensor::wants_grad() const { return node->wants_grad; }

real Tensor::item() const {
    if (count() != 1) fail("item() of a tensor of shape ", to_string(shape()), ": it holds more than one number");
    return values()[0];
}

bool Tensor::has_grad() const { return node->has_grad; }
void Tensor::clear_grad() { node->has_grad = false; }

std::span<real> Tensor::grad() {
    if (!has_grad()) fail("grad() of a tensor of shape ", to_string(shape()), ": no backward() has reached it");
    return {node->grad.data(), count()};
}
std::span<const real> Tensor::grad() const { return const_cast<Tensor*>(this)->grad(); }

void Tensor::replace(const Tensor& other) {
    node->value = std::make_shared<Array>(value(other));
    node->grad = no_numbers();
    node->has_grad = false;
}

void Tensor::share_values(const Tensor& other) {
    if (shape() != other.shape())
        fail("share_values: ", to_string(shape()), " and ", to_string(other.shape()), " differ");
    node->value = other.node->value;
}

//> backward
void Tensor::backward(const Tensor& gradient) {
    if (!gradient.node && count() != 1)
        fail("backward: starts from a single number, not from ", to_string(shape()), "; take the loss");
    Array dy(value(*this).shape());
    dy.fill(1);
    if (gradient.node) {
        if (gradient.shape() != shape())
            fail("backward: a gradient of ", to_string(gradient.shape()), " for a tensor of ", to_string(shape()));
        dy = value(gradient);
    }
    SortedGraph graph(node);
    if (graph.walked_before) fail("backward: this graph was walked before and is gone; compute the loss again");
    if (graph.order.empty()) fail("backward: nothing here wants a gradient; was the loss computed under NoGrad?");
    add_grad(*this, std::move(dy));
    OpenGradients open(graph);  // for those who want to know when a gradient is whole: see stage 17
    for (; !graph.order.empty(); graph.order.pop_back()) {  // a node's gradient is whole before it is passed on
        Node& current = *graph.order.back();
        current.pullback(current.grad);
        open.added(current);
        current.walk = Node::done;
        current.has_grad = false;
        current.pullback = nullptr;  // free the graph as we go
        current.inputs.clear();
        current.grad = no_numbers();
    }
}
//< backward

std::shared_ptr<Array> take_value(Tensor& x) {
    bool temporary = x.node.use_count() == 1 && x.node->value.use_count() == 1;
    return temporary ? std::move(x.node->value) : nullptr;
}

void add_grad(const Tensor& x, Array&& dx) {
    if (!x.node->wants_grad) return;
    if (x.node->has_grad)
        xt::noalias(x.node->grad) += dx;
    else
        x.node->grad = std::move(dx);
    x.node->has_grad = true;
}

GradTarget grad_target(const Tensor& x) {
    if (x.node->grad.shape() != value(x).shape()) x.node->grad = Array(value(x).shape());
    real beta = x.node->has_grad ? 1 : 0;
    x.node->has_grad = true;
    return {x.node->grad.data(), beta};
}

real* zeroed_grad_target(const Tensor& x) {
    auto [data, beta] = grad_target(x);
    if (beta == 0) std::fill_n(data, x.count(), real(0));
    return data;
}

}  // namespace babygpt
