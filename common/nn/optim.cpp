#include "common/nn/optim.h"

#include <algorithm>

#include "common/tensor/kernels.h"

namespace babygpt {

AdamW::AdamW(std::vector<Module::Parameter> list, double decay, double first, double second)
    : weight_decay(decay),
      beta1(first),
      beta2(second),
      parameters(std::move(list)) {
    for (const Module::Parameter& parameter : parameters) {
        means.push_back(Tensor::zeros(parameter.tensor.shape()));
        squares.push_back(Tensor::zeros(parameter.tensor.shape()));
    }
}

void AdamW::step(double learning_rate) {
    check_shapes();
    begin();
    update(learning_rate, 1, 0, 1);
    for (Module::Parameter& parameter : parameters) parameter.tensor.clear_grad();
}

void AdamW::check_shapes() const {
    for (size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].tensor.shape() != means[i].shape())
            fail("AdamW: ", parameters[i].name, " was ", to_string(means[i].shape()), " and is now ",
                 to_string(parameters[i].tensor.shape()), "; make a new optimiser after replacing a parameter");
}

void AdamW::update(double learning_rate, double gradient_scale, int part, int parts) {
    AdamWStep settings{.learning_rate = learning_rate,
                       .beta1 = beta1,
                       .beta2 = beta2,
                       .epsilon = 1e-8,
                       .weight_decay = weight_decay,
                       .gradient_scale = gradient_scale,
                       .step = steps};
    for_part(parameters, part, parts, [&](size_t i, size_t first, size_t last) {
        Tensor& tensor = parameters[i].tensor;
        if (!tensor.has_grad()) return;
        size_t n = last - first;
        adamw(settings, tensor.values().subspan(first, n), tensor.grad().subspan(first, n),
              means[i].values().subspan(first, n), squares[i].values().subspan(first, n));
    });
}

void for_part(const std::vector<Module::Parameter>& parameters, int part, int parts,
              const std::function<void(size_t, size_t, size_t)>& f) {
    size_t total = 0, start = 0;
    for (const Module::Parameter& parameter : parameters) total += parameter.tensor.count();
    size_t from = total * size_t(part) / size_t(parts), to = total * size_t(part + 1) / size_t(parts);
    for (size_t i = 0; i < parameters.size(); ++i) {
        size_t count = parameters[i].tensor.count();
        size_t first = std::clamp(from, start, start + count), last = std::clamp(to, start, start + count);
        if (first < last) f(i, first - start, last - start);
        start += count;
    }
}

}  // namespace babygpt
