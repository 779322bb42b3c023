// Lessons 06 to 08: how strong the signal is after each of eight untrained blocks, and the gradient on its way back;
// for stage 06 also the gradient of three blocks, as many as it has.
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
namespace block {
#include "stages/06_block.cpp"
}
namespace residual {
#include "stages/07_residual.cpp"
}
namespace layernorm {
#include "stages/08_layernorm.cpp"
}
#undef main
using namespace babygpt;

double deviation(std::span<const real> numbers) {
    double sum = 0, squares = 0, n = double(numbers.size());
    for (real x : numbers) sum += double(x), squares += double(x) * double(x);
    return std::sqrt(squares / n - sum / n * (sum / n));
}

struct Signal {
    std::vector<double> up, down;
};

template <class Model>
Signal measure(const Corpus& corpus, int n_layer) {
    Options o{.n_embd = 64, .n_head = 4, .n_layer = n_layer};
    Rng rng(1, "initialisation"), batches(1, "batches");
    Model model(o, corpus.vocabulary.size(), rng);
    Batch batch = random_batch(corpus.train, o.batch_size, o.block_size, batches);
    Signal signal;
    {
        NoGrad looking;
        Tensor x = model.token_embedding(batch.x) + model.position_embedding(positions(o.block_size));  // (B, T, C)
        for (const auto& b : model.blocks) {
            x = b(x);
            signal.up.push_back(deviation(x.values()));
        }
    }
    cross_entropy(model(batch.x), batch.y).backward();
    for (const auto& b : model.blocks) signal.down.push_back(deviation(b.feed_forward.up.weight.grad()));
    return signal;
}

int main() {
    Corpus corpus = load_corpus("tales");
    Signal a = measure<block::Model>(corpus, 8), b = measure<residual::Model>(corpus, 8),
           c = measure<layernorm::Model>(corpus, 8), three = measure<block::Model>(corpus, 3);
    std::printf("deviation of x after a block, and of the gradient of its feed-forward weights\n");
    std::printf("block   x in 06    07    08    gradient in 06        07        08   06 of three\n");
    for (size_t i = 0; i < a.up.size(); ++i) {
        std::printf("%-6zu %8.4f %5.2f %5.2f %17.1e %9.1e %9.1e", i + 1, a.up[i], b.up[i], c.up[i], a.down[i],
                    b.down[i], c.down[i]);
        if (i < three.down.size()) std::printf(" %13.1e", three.down[i]);
        std::printf("\n");
    }
}
