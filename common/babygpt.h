// The one header a stage includes.
#pragma once
#include "common/cache.h"
#include "common/corpus.h"
#include "common/nn.h"
#include "common/ops.h"
#include "common/optim.h"
#include "common/options.h"
#include "common/run.h"
#include "common/sampler.h"
#include "common/tensor.h"
#include "common/trainer.h"
#include "common/writing.h"
