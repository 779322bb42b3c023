// The models of stages 01 to 10, in one program: each stage's source in a namespace of its own.
#pragma once
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"

#define main stage_main
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"  // the stages' mains
namespace {
namespace stage_01 {
#include "stages/01_bigram.cpp"
}
namespace stage_02 {
#include "stages/02_position.cpp"
}
namespace stage_03 {
#include "stages/03_head.cpp"
}
namespace stage_04 {
#include "stages/04_multihead.cpp"
}
namespace stage_05 {
#include "stages/05_feedforward.cpp"
}
namespace stage_06 {
#include "stages/06_block.cpp"
}
namespace stage_07 {
#include "stages/07_residual.cpp"
}
namespace stage_08 {
#include "stages/08_layernorm.cpp"
}
namespace stage_09 {
#include "stages/10_gpt.cpp"
}
}  // namespace
#pragma GCC diagnostic pop
#undef main

namespace {

template <class Model>
std::unique_ptr<babygpt::LanguageModel> make(const babygpt::Options& o, int vocab_size, babygpt::Rng& rng) {
    return std::make_unique<Model>(o, vocab_size, rng);
}

const std::map<std::string, babygpt::MakeModel> stages = {
    {"01_bigram", make<stage_01::Model>},      {"02_position", make<stage_02::Model>},
    {"03_head", make<stage_03::Model>},        {"04_multihead", make<stage_04::Model>},
    {"05_feedforward", make<stage_05::Model>}, {"06_block", make<stage_06::Model>},
    {"07_residual", make<stage_07::Model>},    {"08_layernorm", make<stage_08::Model>},
    {"10_gpt", make<stage_09::Model>}};

}  // namespace
