// What the tests of BERTs share: the input of a fixture, and the tales cut into sentences.
#pragma once
#include "common/nn/bert.h"
#include "common/text/sentences.h"
#include "tests/fixture.h"

namespace babygpt {

inline Tokens tokens(const Fixture& fixture, const std::string& name) {
    Shape shape = fixture.shape(name);
    return {shape[0], shape.size() > 1 ? shape[1] : 1, fixture.integers(name)};
}

inline BertInput input_of(const Fixture& fixture) {
    Mask mask = fixture.mask("in.mask");
    mask.shape = {mask.shape[0], 1, 1, mask.shape[1]};
    return {
        .input_ids = tokens(fixture, "in.ids"), .token_type_ids = tokens(fixture, "in.types"), .attention_mask = mask};
}

inline const Sentences& built_in_tales() {
    static const Sentences text = load_sentences("tales");
    return text;
}

}  // namespace babygpt
