#include "common/app/whole_chunks.h"

#include <algorithm>

namespace babygpt {

namespace {

struct WholeChunks : PreTrainingModel {
    std::unique_ptr<PreTrainingModel> model;
    int chunk;

    WholeChunks(std::unique_ptr<PreTrainingModel> whole, int size)
        : model(std::move(whole)),
          chunk(size) {
        parameters = model->parameters;
    }

    BertForPreTrainingOutput operator()(const BertInput& input) const override {
        input.check();
        if (!input.input_ids || input.hidden_states || input.attentions)
            fail("with --chunk a text is padded, and inputs_embeds, hidden_states and attentions are not passed on; ",
                 "do without --chunk");
        int B = input.input_ids->B, T = input.input_ids->T, padded = (T + chunk - 1) / chunk * chunk;
        const Mask& own = input.attention_mask;
        if (!own.values.empty() && own.shape != Shape{B, 1, 1, T})
            fail("with --chunk a text is padded, and attention_mask has to be ", to_string({B, 1, 1, T}), ", not ",
                 to_string(own.shape));
        auto wider = [&](const auto& row_by_row, auto filling) {
            auto wide = filling;
            for (int b = 0; b < B; ++b) std::copy_n(row_by_row.begin() + b * T, T, wide.begin() + b * padded);
            return wide;
        };
        std::vector<int> pads(size_t(B) * size_t(padded));  // token 0 is [PAD]
        Mask mask = padding(std::vector<int>(size_t(B), T), padded);
        if (!own.values.empty()) mask.values = wider(own.values, std::vector<char>(mask.values.size()));
        BertForPreTrainingOutput out =
            (*model)({.input_ids = Tokens(B, padded, wider(input.input_ids->ids, pads)),
                      .token_type_ids = Tokens(B, padded, wider(input.token_type_ids.value_or(Tokens(B, T)).ids, pads)),
                      .attention_mask = mask});
        return {slice(out.prediction_logits, 1, 0, T), out.seq_relationship_logits};
    }
};

}  // namespace

std::unique_ptr<PreTrainingModel> whole_chunks(std::unique_ptr<PreTrainingModel> model, int chunk) {
    return std::make_unique<WholeChunks>(std::move(model), chunk);
}

}  // namespace babygpt
