// How good a model is, measured on batches that are always the same.
#pragma once
#include "common/train/objective.h"

namespace babygpt {

const char* evaluation_stream(Part part);  // of the numbers that draw its batches

// The mean loss on eval_batches random batches of a part, or of each, without dropout.
using Draw = std::function<std::unique_ptr<DrawnBatch>(Part part, Rng& rng)>;
double mean_loss(Part part, const Draw& draw, const Module& model, const Options& options);
Losses evaluate(const Draw& draw, const Module& model, const Options& options);

}  // namespace babygpt
