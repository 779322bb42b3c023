// Translation, the objective of an encoder and decoder: given a text, guess each next character of its translation.
#pragma once
#include "common/nn/bert.h"
#include "common/text/pairs.h"
#include "common/text/tokenizer.h"
#include "common/train/training_run.h"

namespace babygpt {

using MakeTranslator = std::function<std::unique_ptr<EncoderDecoder>(const BertConfig&, Rng&)>;

class Translation : public Objective {
  public:
    // Fails if there are too few pairs, or if one does not fit the block.
    Translation(const Options& options, const ParallelCorpus& text, MakeTranslator make);

    std::shared_ptr<Module> make_model(Rng& initialisation) const override;
    std::unique_ptr<DrawnBatch> draw(Part part, Rng& rng) const override;
    Checkpoint describe(const Module& model, int step, Losses losses) const override;
    std::string introduce() const override;
    std::string remark(double loss, const Module* model) const override;
    std::string in_words(double loss) const override;
    // Translates sentences that it has not seen; counts those that are right to the letter.
    void show(const Module& model, const Tell& tell) const override;

    struct Pair {
        std::vector<int> source, target;  // [CLS] source [SEP]; target
    };
    std::unique_ptr<DrawnBatch> batch_of(const std::vector<Pair>& pairs) const;

    const CharacterTokenizer tokenizer;  // one for both languages

  private:
    std::vector<Pair> encode(const std::vector<ParallelCorpus::Pair>& pairs) const;
    // The first `count` pairs for validation, translated.
    std::vector<std::string> translations(const Module& model, size_t count) const;
    size_t count_exact(const std::vector<std::string>& translations) const;

    const Options& options;
    const ParallelCorpus& text;
    MakeTranslator make;
    std::vector<Pair> train, val;
    double uniform, unigram;  // nats per written token: knowing nothing, and knowing how frequent each is
};

}  // namespace babygpt
