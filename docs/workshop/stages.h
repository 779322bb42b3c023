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

template <class Model>
std::unique_ptr<babygpt::LanguageModel> make(const babygpt::Options& o, int vocab_size, babygpt::Rng& rng) {
    return std::make_unique<Model>(o, vocab_size, rng);
}
template <class Model>
std::unique_ptr<babygpt::PreTrainingModel> make_bert(const babygpt::BertConfig& c, babygpt::Rng& rng) {
    return std::make_unique<Model>(c, rng);
}
template <class Model>
std::unique_ptr<babygpt::EncoderDecoder> make_translator(const babygpt::BertConfig& c, babygpt::Rng& rng) {
    return std::make_unique<Model>(c, rng);
}

#define main stage_main
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"  // the stages' mains
#include "stages.inc"
#pragma GCC diagnostic pop
#undef main

}  // namespace
