#include "common/train/training_step.h"

#include <chrono>
#include <optional>

#include "common/nn/clip.h"
#include "common/tensor/kernels.h"
#include "common/tensor/node.h"
#include "common/train/ranks.h"

namespace babygpt {

Trainer::Trainer(const Options& o, const Objective& what, size_t bucket_bytes)
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
    if (ranks::count() > 1) exchange = std::make_unique<GradientExchange>(replicas, bucket_bytes);
}

double Trainer::step(const DrawnBatch& batch) {
    const int first = batch.rows() * ranks::rank() / ranks::count(),
              rows = batch.rows() * (ranks::rank() + 1) / ranks::count() - first;
    int workers = std::min(int(replicas.size()), rows);
    optimiser.check_shapes();
    for (auto& replica : replicas)  // of a model just made, or after a parameter was replaced
        for (size_t i = 0; i < optimiser.parameters.size(); ++i) {
            const Tensor &own = replica->parameters[i].tensor, &common = optimiser.parameters[i].tensor;
            if (own.node->value == common.node->value) continue;
            Tensor(own).share_values(common);
        }
    if (exchange) exchange->begin(workers);
    std::vector<double> losses(size_t(workers), 0.0), squares(size_t(pool.size()));
    pool.run([&](int worker) {
        if (worker < workers)
            losses[size_t(worker)] =
                work(worker, batch, first + rows * worker / workers, first + rows * (worker + 1) / workers);
    });
    double loss = 0, length = 0;
    for (double part : losses) loss += part;
    if (exchange) {
        auto done = std::chrono::steady_clock::now();
        loss = exchange->finish(loss);
        waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - done).count();
        workers = 1;  // the first one has the gradients of all
    }
    for (size_t i = 0; i < optimiser.parameters.size(); ++i)  // no share need reach all parameters
        for (int worker = 1; worker < workers; ++worker)
            if (replicas[size_t(worker)]->parameters[i].tensor.has_grad())
                zeroed_grad_target(optimiser.parameters[i].tensor);
    pool.run([&](int part) { squares[size_t(part)] = add_up_gradients(part, workers); });
    for (double part : squares) length += part;
    double rate = schedule.at(optimiser.steps);
    optimiser.begin();
    pool.run([&](int part) { optimiser.update(rate, clip_scale(length, options.clip), part, pool.size()); });
    return loss;
}

double Trainer::work(int worker, const DrawnBatch& batch, int begin, int end) {
    Module& replica = *replicas[size_t(worker)];
    for (Module::Parameter& parameter : replica.parameters) parameter.tensor.clear_grad();
    CheckpointScope checkpointing(std::max(0, options.checkpoint));
    std::optional<GradientScope> telling;
    double total = 0;
    for_chunks(batch, begin, end, [&](int first, int last) {
        Rng keys(options.seed, "dropout", uint64_t(optimiser.steps));  // the same for all rows, whoever computes them
        DropoutScope training(keys, first);
        Tensor loss = batch.loss(replica, first, last);
        total += loss.item();
        if (exchange && last == end)  // the last chunk: nothing will be added after it
            telling.emplace([&](const Node& parameter) { exchange->whole(worker, parameter); });
        loss.backward();
    });
    if (exchange) exchange->whole(worker);
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
