// The models of this course on disk: a checkpoint that holds all that is needed to use a model again.
#pragma once
#include "common/base/options.h"
#include "common/text/corpus.h"
#include "common/train/checkpoint.h"

namespace babygpt {

// What a model needs to be used again without the text it was trained on.
struct SavedModel {
    Options options;
    Vocabulary vocabulary;
    uint64_t corpus_hash;
    Checkpoint checkpoint;
};
Checkpoint describe_model(const Options& options, const Corpus& corpus, const Module& model, int step,
                          double train_loss, double val_loss);
// Both fail if another stage than the one of these defaults saved it, or if it lacks a part that the defaults have.
SavedModel parse_model(std::string_view bytes, const std::string& file, const Options& stage);
SavedModel load_model(const std::string& file, const Options& stage);

std::string saved_by(const std::string& file);  // the stage, or nothing if it was another program

}  // namespace babygpt
