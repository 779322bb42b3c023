#include "common/nn/nn.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "common/tensor/node.h"

namespace babygpt {

namespace {

thread_local DropoutScope::Stream dropout_stream;
thread_local int checkpointed_blocks = 0;
thread_local bool init_weights_is_off = false;

}  // namespace

size_t Module::parameter_count() const {
    size_t count = 0;
    for (const Parameter& parameter : parameters) count += parameter.tensor.count();
    return count;
}

void Module::add(const std::string& name, const Tensor& parameter) {
    bool tied = std::ranges::any_of(parameters, [&](const Parameter& p) { return p.tensor.node == parameter.node; });
    if (!tied) parameters.push_back({name, parameter});
}

void Module::add(const std::string& name, const Module& part) {
    for (const Parameter& parameter : part.parameters) add(name + "." + parameter.name, parameter.tensor);
}

Linear::Linear(int in, int out, Rng& rng, Bias has_bias)
    : weight(Tensor::parameter({out, in})) {
    auto fill = [bound = 1 / std::sqrt(in), &rng](Tensor& tensor) {
        if (init_weights_is_off) return;
        for (real& v : tensor.values()) v = real(bound * (2 * rng.uniform() - 1));
    };
    fill(weight);
    add("weight", weight);
    if (has_bias == no_bias) return;
    bias = Tensor::parameter({out});
    fill(bias);
    add("bias", bias);
}

Embedding::Embedding(int count, int n_embd, Rng& rng)
    : weight(Tensor::parameter({count, n_embd})) {
    fill_normal(weight, 1, rng);
    add("weight", weight);
}

LayerNorm::LayerNorm(int n_embd, double added)
    : weight(Tensor::parameter({n_embd})),
      bias(Tensor::parameter({n_embd})),
      epsilon(added) {
    for (real& v : weight.values()) v = 1;
    add("weight", weight);
    add("bias", bias);
}

DropoutScope::DropoutScope(Stream stream)
    : before(std::exchange(dropout_stream, stream)) {}
DropoutScope::~DropoutScope() { dropout_stream = before; }

Tensor Dropout::operator()(Tensor x) const {
    if (!dropout_stream.keys || p == 0) return x;
    return dropout(std::move(x), p, dropout_stream.keys->next(), dropout_stream.first_row);
}

Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v, int n_head, const Dropout& dropout) {
    if (!dropout_stream.keys || dropout.p == 0) return causal_attention(q, k, v, n_head);
    return causal_attention(q, k, v, n_head, dropout.p, dropout_stream.keys->next(), dropout_stream.first_row);
}

//> checkpoint
Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
    if (!grad_enabled()) return f(x);  // nothing is kept anyway
    DropoutScope::Stream stream = dropout_stream;
    Rng coins = stream.keys ? *stream.keys : Rng(0);  // where the stream of dropout's coins stands
    auto forgetting = [&] {
        NoGrad forget;
        return f(x);
    };
    Tensor y = make_tensor(forgetting().node->value);
    y.node->wants_grad = true;  // f may have parameters even if x wants no gradient
    y.node->inputs = {x};
    y.node->hides_parameters = true;
    y.node->pullback = [f, x, stream, coins](Array& dy) {
        if (!grad_enabled()) fail("checkpoint: what is forgotten cannot be computed again under NoGrad");
        Tensor again_x = make_tensor(x.node->value);  // the walk from here ends at this copy of x
        again_x.node->wants_grad = x.wants_grad();
        Rng same_coins = coins;
        DropoutScope again({stream.keys ? &same_coins : nullptr, stream.first_row});
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

namespace {

Tensor gelu_new(Tensor x) {  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / std::numbers::pi);
    return x * (tanh(inner) + Tensor({1}, {1})) * 0.5;
}

}  // namespace

Tensor (*activation(const std::string& name))(Tensor x) {
    if (name == "gelu") return gelu;
    if (name == "gelu_new") return gelu_new;
    fail("there is no activation ", name, " here; there is gelu and gelu_new");
}

NoInitWeights::NoInitWeights()
    : before(std::exchange(init_weights_is_off, true)) {}
NoInitWeights::~NoInitWeights() { init_weights_is_off = before; }

void fill_normal(Tensor& tensor, double deviation, Rng& rng) {
    if (init_weights_is_off) return;
    for (real& v : tensor.values()) v = real(deviation * rng.normal());
}

void fill_waves(Tensor& table, double height) {
    if (init_weights_is_off) return;
    real* value = table.values().data();
    for (int place = 0, n = table.size(1); place < table.size(0); ++place)
        for (int i = 0; i < n; ++i) {
            double angle = place / std::pow(1e4, double(i - i % 2) / n);
            *value++ = real(height * (i % 2 ? std::cos(angle) : std::sin(angle)));
        }
}

Tokens positions(int T, int first) {
    Tokens result(1, T);
    std::iota(result.ids.begin(), result.ids.end(), first);
    return result;
}

}  // namespace babygpt
