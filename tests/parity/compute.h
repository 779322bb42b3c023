// What a stage's model makes of given weights and batches, to be compared with what PyTorch makes of them (compute.py).
#pragma once
#include <nlohmann/json.hpp>

#include "docs/workshop/stages.h"

namespace {

using namespace babygpt;

struct Answer {
    std::vector<Module::Parameter> tensors;  // on the first batch: logits, loss, and gradient.NAME of every parameter
    std::vector<double> losses;              // while training on all of them
};

using Batches = std::vector<std::unique_ptr<DrawnBatch>>;
using Logits = std::function<std::vector<Module::Parameter>(const Module&)>;  // of a model, on the first batch

Answer compute(const Options& options, const Objective& objective, const Checkpoint& weights, const Logits& logits,
               const Batches& batches) {
    Trainer trainer(options, objective);
    Module& model = trainer.model();
    restore(model.parameters, weights, "", "the weights");
    Answer answer{logits(model), {}};

    Tensor loss = batches[0]->loss(model, 0, batches[0]->rows());
    loss.backward();
    answer.tensors.push_back({"loss", loss});
    for (auto& [name, tensor] : model.parameters) {
        if (!tensor.has_grad()) continue;
        answer.tensors.push_back({"gradient." + name, Tensor(tensor.shape(), tensor.grad())});
        tensor.clear_grad();
    }

    for (const auto& batch : batches) {
        if (options.stage != "01_bigram") {
            answer.losses.push_back(trainer.step(*batch));
        } else {  // the loop it writes out
            Tensor wrong = batch->loss(model, 0, batch->rows());
            wrong.backward();
            trainer.optimiser.step(options.learning_rate);
            answer.losses.push_back(wrong.item());
        }
    }
    return answer;
}

Tokens tokens_from_json(const nlohmann::json& json) {
    std::vector<int> ids;
    for (const auto& row : json) ids.insert(ids.end(), row.begin(), row.end());
    return Tokens(int(json.size()), int(json[0].size()), ids);
}

MaskedPairs pairs_from_json(const nlohmann::json& json) {
    return {tokens_from_json(json["input_ids"]), tokens_from_json(json["token_type_ids"]),
            tokens_from_json(json["labels"]), tokens_from_json(json["next_sentence_label"]), json["lengths"]};
}

std::vector<Translation::Pair> translations_from_json(const nlohmann::json& json) {
    std::vector<Translation::Pair> pairs;
    for (size_t row = 0; row < json["sources"].size(); ++row)
        pairs.push_back({json["sources"][row], json["targets"][row]});
    return pairs;
}

Tensor translation_logits(const EncoderDecoder& model, const CharacterTokenizer& tokenizer,
                          const std::vector<Translation::Pair>& pairs) {
    std::vector<std::vector<int>> sources, inputs;
    for (const auto& [source, target] : pairs) {
        sources.push_back(source);
        inputs.push_back(target), inputs.back().insert(inputs.back().begin(), tokenizer.cls);
    }
    PaddedRows source = pad_rows(sources, tokenizer.pad), input = pad_rows(inputs, tokenizer.pad);
    Mask seen = padding(source.lengths, source.ids.T);
    return model.decode({.input_ids = input.ids,
                         .attention_mask = padding(input.lengths, input.ids.T),
                         .encoder_hidden_states = model.encode({.input_ids = source.ids, .attention_mask = seen}),
                         .encoder_attention_mask = seen});
}

// Batches are [x, y], each (B, T), for a model that writes, a MaskedPairs by its names for a BERT, and sources and
// targets, a row of ids for each, for a translator.
Answer compute(Options options, const Vocabulary& vocabulary, const Checkpoint& weights, const nlohmann::json& json) {
    if (options.stage == "16_memory") options.checkpoint = options.chunk = 1;  // all it can forget; no file says so
    Batches batches;
    if (stages.contains(options.stage)) {
        Corpus corpus{"parity", vocabulary, {}, {}, {}, nullptr, 0};
        LanguageModelling objective(options, corpus, stages.at(options.stage));
        auto batch = [](const auto& xy) { return Batch{tokens_from_json(xy[0]), tokens_from_json(xy[1])}; };
        for (const auto& xy : json) batches.push_back(std::make_unique<TextBatch>(batch(xy)));
        auto logits = [x = batch(json[0]).x](const Module& model) -> std::vector<Module::Parameter> {
            return {{"logits", static_cast<const LanguageModel&>(model)(x)}};
        };
        return compute(options, objective, weights, logits, batches);
    }
    if (translator_stages.contains(options.stage)) {
        ParallelCorpus text{"parity", {}, {}, 0, false};
        for (char32_t c : vocabulary.characters) text.train.push_back({{c}, {c}});  // so that it knows them all
        Translation objective(options, text, translator_stages.at(options.stage));
        for (const auto& pairs : json) batches.push_back(objective.batch_of(translations_from_json(pairs)));
        auto logits = [&](const Module& model) -> std::vector<Module::Parameter> {
            const auto& translator = static_cast<const EncoderDecoder&>(model);
            return {{"logits", translation_logits(translator, objective.tokenizer, translations_from_json(json[0]))}};
        };
        return compute(options, objective, weights, logits, batches);
    }
    Sentences text{"parity", CharacterTokenizer(vocabulary), {}, {}, 0, {}, {}, 0};
    PreTraining objective(options, text, bert_stages.at(options.stage));
    for (const auto& pairs : json) batches.push_back(pairs_batch(pairs_from_json(pairs)));
    auto logits = [pairs = pairs_from_json(json[0])](const Module& model) -> std::vector<Module::Parameter> {
        auto out =
            static_cast<const PreTrainingModel&>(model)({.input_ids = pairs.input_ids,
                                                         .token_type_ids = pairs.token_type_ids,
                                                         .attention_mask = padding(pairs.lengths, pairs.input_ids.T)});
        return {{"prediction_logits", out.prediction_logits}, {"seq_relationship_logits", out.seq_relationship_logits}};
    };
    return compute(options, objective, weights, logits, batches);
}

}  // namespace
