// Models of the workshop's tests: small, untrained, of any stage.
#pragma once
#include "common/write/sampler.h"
#include "docs/workshop/models.h"
#include "docs/workshop/stages.h"

namespace babygpt::workshop {

inline const std::u32string letters = U"\n abcdeh树";
inline const std::string text = "bad head 树ed";

inline Options tiny(const std::string& stage, const std::string& positions = "") {
    bool bert = readers().contains(stage) || translator_stages.contains(stage);
    return {.stage = stage,
            .task = task_of(stage),
            .block_size = 24,
            .n_embd = 8,
            .n_head = 2,
            .n_layer = 2,
            .positions = !positions.empty()       ? positions
                         : stage == "12_relative" ? "relative_key"
                         : bert                   ? "absolute"
                                                  : ""};
}

inline Opened open_tiny(const Options& options, uint64_t seed = 0) {
    Opened opened{options, CharacterTokenizer(Vocabulary(letters))};
    Rng rng(1, "initialisation");
    BertConfig config = bert_config(options, opened.tokenizer.size());
    if (stages.contains(options.stage)) opened.writer = stages.at(options.stage)(options, int(letters.size()), rng);
    if (readers().contains(options.stage)) opened.reader = readers().at(options.stage)(config, rng);
    if (translator_stages.contains(options.stage)) opened.translator = translator_stages.at(options.stage)(config, rng);
    for (const auto& [name, tensor] : opened.module().parameters)  // large enough that every path matters
        std::ranges::copy(random_tensor(tensor.shape(), ++seed, 0.4).values(), Tensor(tensor).values().begin());
    return opened;
}

}  // namespace babygpt::workshop
