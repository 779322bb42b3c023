// The parts of stage 06, for exercises that build on them: parts::Head, parts::Block and so on.
#pragma once
#include <cmath>

#include "common/babygpt.h"

#define main inline stage_main
namespace parts {
#include "stages/06_block.cpp"
}
#undef main
