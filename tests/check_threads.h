// What threads may not change.
#pragma once
#include "common/train/training_step.h"
#include "tests/check.h"

namespace babygpt {

// A step of training on one thread and on several: the same loss, the same gradients.
inline void check_threads(const Options& options, const Objective& objective) {
    Rng rng(3);
    auto batch = objective.draw(Part::train, rng);
    auto train = [&](int threads) {
        Options with = options;
        with.threads = threads;
        Trainer trainer(with, objective);
        double loss = trainer.step(*batch);
        std::vector<real> all;
        for (const auto& [name, tensor] : trainer.model().parameters)
            if (tensor.has_grad()) all.insert(all.end(), tensor.grad().begin(), tensor.grad().end());
        return std::pair(loss, all);
    };
    auto [loss, gradient] = train(1);
    for (int threads : {2, 3, 8}) {
        auto [other_loss, other] = train(threads);
        CHECK(other_loss == doctest::Approx(loss).epsilon(rounding));
        CHECK(difference(gradient, other) < 10 * rounding);
    }
}

}  // namespace babygpt
