#include "common/train/trainer.h"

#include "common/tensor/kernels.h"
#include "common/tensor/node.h"

namespace babygpt {

Trainer::Trainer(const Options& o, const Objective& what)
    : optimiser({}),
      batches(o.seed, "batches"),
      options(o),
      objective(what),
      pool(thread_count(o)),
      schedule{.learning_rate = o.learning_rate, .warmup = o.warmup, .steps = o.steps, .decay = o.decay} {
    for (int worker = 0; worker < std::min(pool.size(), o.batch_size); ++worker) {
        Rng rng(o.seed, "initialisation");
        replicas.push_back(objective.make_model(rng));
    }
    optimiser = AdamW(model().parameters, o.weight_decay, o.beta1, o.beta2);
}

double Trainer::step(const DrawnBatch& batch) {
    int workers = std::min(int(replicas.size()), batch.rows());
    optimiser.check_shapes();
    for (auto& replica : replicas)  // of a model just made, or after a parameter was replaced
        for (size_t i = 0; i < optimiser.parameters.size(); ++i) {
            const Tensor &own = replica->parameters[i].tensor, &common = optimiser.parameters[i].tensor;
            if (own.node->value == common.node->value) continue;
            Tensor(own).share_values(common);
        }
    std::vector<double> losses(size_t(workers), 0.0), squares(size_t(pool.size()));
    pool.run([&](int worker) {
        if (worker < workers) losses[size_t(worker)] = work(worker, workers, batch);
    });
    for (size_t i = 0; i < optimiser.parameters.size(); ++i)  // no share need reach all parameters
        for (int worker = 1; worker < workers; ++worker)
            if (replicas[size_t(worker)]->parameters[i].tensor.has_grad())
                zeroed_grad_target(optimiser.parameters[i].tensor);
    pool.run([&](int part) { squares[size_t(part)] = add_up_gradients(part, workers); });
    double loss = 0, length = 0;
    for (double part : losses) loss += part;
    for (double part : squares) length += part;
    double rate = schedule.at(optimiser.steps);
    optimiser.begin();
    pool.run([&](int part) { optimiser.update(rate, clip_scale(length, options.clip), part, pool.size()); });
    return loss;
}

double Trainer::work(int worker, int workers, const DrawnBatch& batch) {
    Module& replica = *replicas[size_t(worker)];
    for (Module::Parameter& parameter : replica.parameters) parameter.tensor.clear_grad();
    CheckpointScope forgetting(options.checkpoint);
    double total = 0;
    for_chunks(batch, batch.rows() * worker / workers, batch.rows() * (worker + 1) / workers, [&](int first, int last) {
        Rng keys(options.seed, "dropout", uint64_t(optimiser.steps));  // the same for all rows, whoever computes them
        DropoutScope training(keys, first);
        Tensor loss = batch.loss(replica, first, last);
        total += loss.item();
        loss.backward();
    });
    return total;
}

double Trainer::add_up_gradients(int part, int workers) {
    double squares = 0;
    for_part(optimiser.parameters, part, pool.size(), [&](size_t i, size_t first, size_t last) {
        Tensor& whole = optimiser.parameters[i].tensor;
        if (!whole.has_grad()) return;
        std::span<real> sum = whole.grad().subspan(first, last - first);
        for (int worker = 1; worker < workers; ++worker)
            if (const Tensor& share = replicas[size_t(worker)]->parameters[i].tensor; share.has_grad())
                add(share.grad().subspan(first, last - first), sum);
        if (options.clip > 0) squares += sum_of_squares(sum);
    });
    return squares;
}

}  // namespace babygpt
