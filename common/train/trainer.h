// Updates of a model's parameters, on several threads.
#pragma once
#include "common/base/thread_pool.h"
#include "common/nn/optim.h"
#include "common/train/objective.h"

namespace babygpt {

// Threads are data parallelism: each worker takes its share of the batch through a replica of the model that has the
// parameters' values in common and gradients of its own; then the gradients are added up and the optimiser steps.
class Trainer {
  public:
    Trainer(const Options& options, const Objective& objective);

    std::unique_ptr<DrawnBatch> draw() { return objective.draw(Part::train, batches); }
    double step(const DrawnBatch& batch);  // one update; returns the batch's loss before it
    double step() { return step(*draw()); }
    Module& model() { return *replicas[0]; }

    AdamW optimiser;
    Rng batches;

  private:
    double work(int worker, int workers, const DrawnBatch& batch);  // forward and backward on its share: its loss
    double add_up_gradients(int part, int workers);  // of the first replicas; returns the sum of their squares

    const Options& options;
    const Objective& objective;
    ThreadPool pool;
    std::vector<std::shared_ptr<Module>> replicas;
    Schedule schedule;
};

}  // namespace babygpt
