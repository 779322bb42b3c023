// From gradients to better parameters.
#pragma once
#include <functional>

#include "common/nn/nn.h"

namespace babygpt {

// AdamW (Loshchilov and Hutter): each parameter moves by its gradient's running mean over the root of its running
// square, and shrinks a little on its own (decoupled weight decay).
class AdamW {
  public:
    explicit AdamW(std::vector<Module::Parameter> parameters, double weight_decay = 0.01, double beta1 = 0.9,
                   double beta2 = 0.99);

    void check_shapes() const;        // fails if a parameter was replaced by one of another shape
    void step(double learning_rate);  // then the gradients are cleared

    // The same in parts that threads can do side by side: begin once, then update every part.
    void begin() { ++steps; }
    void update(double learning_rate, double gradient_scale, int part, int parts);

    double weight_decay, beta1, beta2;
    int steps = 0;
    std::vector<Module::Parameter> parameters;
    std::vector<Tensor> means, squares;  // one each for every parameter
};

// Part `part` of all the parameters' numbers, laid end to end and cut into `parts`: calls f(parameter, first, last).
void for_part(const std::vector<Module::Parameter>& parameters, int part, int parts,
              const std::function<void(size_t parameter, size_t first, size_t last)>& f);

}  // namespace babygpt
