#include "common/train/evaluate.h"

#include "common/base/thread_pool.h"
#include "common/train/ranks.h"

namespace babygpt {

const char* evaluation_stream(Part part) { return part == Part::train ? "evaluation of train" : "evaluation of val"; }

double mean_loss(Part part, const Draw& draw, const Module& model, const Options& options) {
    ThreadPool pool(thread_count(options));
    std::vector<double> losses(size_t(options.eval_batches));
    pool.run([&](int worker) {
        NoGrad evaluation;
        for (int i = ranks::rank() * pool.size() + worker; i < options.eval_batches;
             i += ranks::count() * pool.size()) {
            Rng rng(options.seed, evaluation_stream(part), uint64_t(i));
            std::unique_ptr<DrawnBatch> batch = draw(part, rng);
            for_chunks(*batch, 0, batch->rows(),
                       [&](int first, int last) { losses[size_t(i)] += batch->loss(model, first, last).item(); });
        }
    });
    ranks::all_reduce(losses);
    double total = 0;
    for (double loss : losses) total += loss;
    return total / options.eval_batches;
}

Losses evaluate(const Draw& draw, const Module& model, const Options& options) {
    return {mean_loss(Part::train, draw, model, options), mean_loss(Part::val, draw, model, options)};
}

}  // namespace babygpt
