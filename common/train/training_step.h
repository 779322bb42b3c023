// A step of training: one update of the parameters; on several threads and ranks.
#pragma once
#include "common/base/thread_pool.h"
#include "common/nn/optim.h"
#include "common/nn/schedule.h"
#include "common/train/gradient_exchange.h"
#include "common/train/objective.h"

namespace babygpt {

// Threads are data parallelism: each worker takes its share of the batch through a replica of the model that has the
// parameters' values in common and gradients of its own; then the gradients are added up and the optimiser steps. Ranks
// are the same once more: each takes its share of the batch, and its threads take shares of that.
class Trainer {
  public:
    Trainer(const Options& options, const Objective& objective, size_t bucket_bytes = GradientExchange::usual_bucket);

    std::unique_ptr<DrawnBatch> draw() { return objective.draw(Part::train, batches); }
    double step(const DrawnBatch& batch);  // one update; returns the batch's loss before it
    double step() { return step(*draw()); }
    Module& model() { return *replicas[0]; }

    AdamW optimiser;
    Rng batches;
    double waited = 0;  // seconds, for other ranks, when this one's share was done

  private:
    // Forward and backward on rows begin to end - 1: their loss.
    double work(int worker, const DrawnBatch& batch, int begin, int end);
    double add_up_gradients(int part, int workers);  // of the first replicas; returns the sum of their squares

    const Options& options;
    const Objective& objective;
    ThreadPool pool;
    std::vector<std::shared_ptr<Module>> replicas;
    std::unique_ptr<GradientExchange> exchange;  // where there are several ranks
    Schedule schedule;
};

}  // namespace babygpt
