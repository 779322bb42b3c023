// Stage 13's BERT, for exercises that build on it: bert::Model and so on.
#pragma once
#include <algorithm>
#include <cmath>

#include "common/babygpt.h"

#define main inline stage_main
namespace bert {
#include "stages/13_bert.cpp"
}
#undef main
