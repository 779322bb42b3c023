// What a stage's model makes of given weights and batches, to be compared with what PyTorch makes of them (compute.py).
#pragma once
#include <nlohmann/json.hpp>

#include "tests/parity/stages.h"

namespace {

using namespace babygpt;

struct Answer {
    std::vector<Module::Parameter> tensors;  // on the first batch: logits, loss, and gradient.NAME of every parameter
    std::vector<double> losses;              // while training on all of them
};

std::vector<Batch> batches_from_json(const nlohmann::json& json) {  // [[x, y], ...], each (B, T)
    auto tokens = [](const std::vector<std::vector<int>>& rows) {
        std::vector<int> ids;
        for (const std::vector<int>& row : rows) ids.insert(ids.end(), row.begin(), row.end());
        return Tokens(int(rows.size()), int(rows[0].size()), ids);
    };
    std::vector<Batch> batches;
    for (const auto& batch : json) batches.push_back({tokens(batch[0]), tokens(batch[1])});
    return batches;
}

Answer compute(const Options& options, const Vocabulary& vocabulary, const Checkpoint& weights,
               const std::vector<Batch>& batches) {
    Corpus corpus{"parity", vocabulary, {}, {}, {}, nullptr, 0};
    LanguageModelling objective(options, corpus, stages.at(options.stage));
    Trainer trainer(options, objective);
    auto& model = static_cast<LanguageModel&>(trainer.model());
    restore(model.parameters, weights, "", "the weights");
    Answer answer;

    Tensor logits = model(batches[0].x), loss = cross_entropy(logits, batches[0].y);
    loss.backward();
    answer.tensors = {{"logits", logits}, {"loss", loss}};
    for (const auto& [name, tensor] : model.parameters)
        answer.tensors.push_back({"gradient." + name, Tensor(tensor.shape(), tensor.grad())});

    for (auto& [name, tensor] : model.parameters) tensor.clear_grad();
    for (const Batch& batch : batches) {
        if (options.stage != "01_bigram") {
            answer.losses.push_back(trainer.step(TextBatch(batch)));
        } else {  // the loop it writes out
            Tensor wrong = cross_entropy(model(batch.x), batch.y);
            wrong.backward();
            trainer.optimiser.step(options.learning_rate);
            answer.losses.push_back(wrong.item());
        }
    }
    return answer;
}

}  // namespace
