// Models as Hugging Face saves them: a directory with config.json, vocab.txt and model.safetensors.
#pragma once
#include <memory>

#include "common/nn/bert_config.h"
#include "common/text/tokenizer.h"
#include "common/train/checkpoint.h"

namespace babygpt {

struct Pretrained {
    BertConfig config;
    std::unique_ptr<Tokenizer> tokenizer;  // of characters, if its vocabulary is one as a run of ours has it
    Checkpoint checkpoint;  // the parameters of BertForPreTraining under its names, without those of parts it lacks
    bool has_pooler, has_predictions, has_seq_relationship;  // a part is there whole or not at all
};

// Fails with one clear line if a file is missing or damaged, if they do not fit each other, or if the model computes
// something that ours does not.
Pretrained load_pretrained(const std::string& directory);

// Fields that are missing have Hugging Face's defaults, those that BertConfig lacks are passed over, unless they would
// change what the model computes.
BertConfig parse_config(std::string_view json, const std::string& file);
std::string save_config(const BertConfig& config);  // a config.json that Hugging Face reads

}  // namespace babygpt
