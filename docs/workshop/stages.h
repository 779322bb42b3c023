// The models of all stages that train, in one program. stages.inc is made from what is in stages/: each stage's source
// in a namespace of its own, and maps from a stage's name to what makes its model: `stages` of those that write,
// `bert_stages`, and `translator_stages`.
#pragma once
#include <cmath>
#include <cstdio>
#include <map>

#include "common/babygpt.h"
#include "common/train/training_step.h"

namespace {

#define main stage_main
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"  // the stages' mains
#include "stages.inc"
#pragma GCC diagnostic pop
#undef main

}  // namespace
