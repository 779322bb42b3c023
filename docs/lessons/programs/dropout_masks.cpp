// Lesson 16: how far the gradient is off when what is computed again draws other dropout masks: the cosine of the angle
// between it and the right one, 1 where they point the same way and 0 where they have nothing in common.
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
#include "common/tensor/node.h"
using namespace babygpt;

#define main stage_main
namespace right {
#include "stages/16_memory.cpp"
}

Tensor other_masks(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {  // checkpoint() without its memory
    auto forgetting = [&] {
        NoGrad forget;
        return f(x);
    };
    return make_result(forgetting().node->value, {x}, [f, x](Array& dy) {
        Tensor again_x = make_tensor(x.node->value);
        again_x.node->wants_grad = true;
        f(again_x).backward(make_tensor(std::make_shared<Array>(std::move(dy))));
        add_grad(x, std::move(again_x.node->grad));
    });
}
#define checkpoint(f, x) other_masks(f, x)
namespace wrong {
#include "stages/16_memory.cpp"
}
#undef checkpoint
#undef main

template <class Model>
std::vector<real> gradient(int layers, double p) {
    BertConfig config{.vocab_size = 64,
                      .hidden_size = 64,
                      .num_hidden_layers = layers,
                      .num_attention_heads = 4,
                      .intermediate_size = 256,
                      .hidden_dropout_prob = p,
                      .attention_probs_dropout_prob = p,
                      .max_position_embeddings = 64,
                      .initializer_range = 0.0625,
                      .gradient_checkpointing = 1};
    Rng start(1), text(2), masks(3);
    Model model(config, start);
    Tokens ids(8, 64);
    for (int& id : ids.ids) id = 1 + int(text.below(63));
    DropoutScope training(masks);
    cross_entropy(model({.input_ids = ids}).prediction_logits, ids).backward();
    std::vector<real> all;
    for (const auto& [name, tensor] : model.parameters)
        if (tensor.has_grad()) all.insert(all.end(), tensor.grad().begin(), tensor.grad().end());
    return all;
}

int main() {
    std::printf("dropout   3 layers  12 layers\n");
    for (double p : {0.0, 0.02, 0.1, 0.3, 0.5}) {
        std::printf("%-8.2f", p);
        for (int layers : {3, 12}) {
            std::vector<real> a = gradient<right::Model>(layers, p), b = gradient<wrong::Model>(layers, p);
            double ab = 0, aa = 0, bb = 0;
            for (size_t i = 0; i < a.size(); ++i)
                ab += double(a[i]) * double(b[i]), aa += double(a[i]) * double(a[i]), bb += double(b[i]) * double(b[i]);
            std::printf(" %9.3f", ab / std::sqrt(aa * bb));
        }
        std::printf("\n");
    }
}
