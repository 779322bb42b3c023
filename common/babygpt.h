// The one header a stage includes.
#pragma once
#include "common/app/command_line.h"
#include "common/base/options.h"
#include "common/nn/nn.h"
#include "common/nn/optim.h"
#include "common/tensor/ops.h"
#include "common/tensor/tensor.h"
#include "common/text/corpus.h"
#include "common/train/run.h"
#include "common/train/trainer.h"
#include "common/write/cache.h"
#include "common/write/sampler.h"
#include "common/write/writing.h"
