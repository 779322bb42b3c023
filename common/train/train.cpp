#include "common/train/train.h"

#include "common/train/evaluate.h"
#include "common/train/run.h"
#include "common/train/trainer.h"

namespace babygpt {

void train_objective(const Options& options, const Objective& objective) {
    Trainer trainer(options, objective);
    TrainingRun run(options, objective, trainer.model().parameter_count());
    auto draw = [&](Part part, Rng& rng) { return objective.draw(part, rng); };
    for (int step = run.resume(trainer.model(), trainer.optimiser, trainer.batches);; ++step) {
        if (run.due(step)) run.record(step, evaluate(draw, trainer.model(), options), &trainer.model());
        run.save(step, trainer.model(), trainer.optimiser, trainer.batches);
        if (run.ends(step)) break;
        std::unique_ptr<DrawnBatch> batch = trainer.draw();
        double loss = trainer.step(*batch);
        run.trained(step, loss, batch->tokens());
    }
    run.finish(trainer.model());
}

}  // namespace babygpt
