// All that PyTorch's users get from torch.nn.
#pragma once
#include "common/nn/dropout.h"
#include "common/nn/gradient_checkpointing.h"
#include "common/nn/init.h"
#include "common/nn/layers.h"
#include "common/nn/sequential.h"
