#include "common/train/training_loop.h"

#include "common/base/memory.h"
#include "common/train/agreement.h"
#include "common/train/evaluate.h"
#include "common/train/ranks.h"
#include "common/train/training_run.h"
#include "common/train/training_step.h"

namespace babygpt {

namespace {

constexpr int check_interval = 200;  // steps

}  // namespace

void train_objective(const Options& options, const Objective& objective) try {
    Trainer trainer(options, objective);
    TrainingRun run(options, objective, trainer.model().parameter_count());
    auto draw = [&](Part part, Rng& rng) { return objective.draw(part, rng); };
    int step = run.resume(trainer.model(), trainer.optimiser, trainer.batches);
    Rng before = trainer.batches;  // of this step
    try {
        for (;; ++step) {
            before = trainer.batches;
            if (step % check_interval == 0 || step == options.steps) agree_on_weights(trainer.model(), step);
            if (run.due(step)) run.record(step, evaluate(draw, trainer.model(), options), &trainer.model());
            run.save(step, trainer.model(), trainer.optimiser, trainer.batches);
            if (run.ends(step)) break;
            std::unique_ptr<DrawnBatch> batch = trainer.draw();
            double loss = trainer.step(*batch);
            run.trained(step, loss, batch->tokens());
        }
    } catch (const ranks::Lost&) {  // before this step's update, or after it; never in its midst
        bool updated = trainer.optimiser.steps > step;
        run.lost(trainer.optimiser.steps, trainer.model(), trainer.optimiser, updated ? trainer.batches : before);
    }
    run.finish(trainer.model());
} catch (const OutOfMemory& error) {
    bool could_forget = options.checkpoint >= 0 && options.checkpoint != 1;
    if (!could_forget) throw;
    fail(error.what(), ", or --checkpoint 1");
}

}  // namespace babygpt
