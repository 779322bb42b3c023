// What a model computes on a text: its surprise, its guesses, and what each of its heads does.
#pragma once
#include <nlohmann/json.hpp>

#include "common/tensor/recording.h"
#include "docs/workshop/models.h"

namespace babygpt::workshop {

// One head of one layer on one text.
struct Head {
    std::string part;  // of a translator: encoder, decoder, or cross, where the one looks at the other
    int layer, number;
    int rows, columns, size;    // places that look, places looked at, and numbers in a query
    std::vector<real> q, k, v;  // (rows, size), (columns, size) twice
    Tensor d;                   // (rows, columns, size) where it has distances: one for all heads of the layer
    std::vector<real> weights;  // (rows, columns)
};
std::vector<Head> heads_of(const Recording& recording, const Module& module);

struct Question {
    std::string text, second = {};  // a BERT may read two
    int padding = 0;                // [PAD]s behind them
};
nlohmann::json look(const Opened& model, const Question& question);

// One row of one head, step by step: the query, its products with all keys, what the mask leaves, softmax, the values.
nlohmann::json look_at_row(const Opened& model, const Question& question, const std::string& part, int layer, int head,
                           int row);

// What the rows of all heads are made of: queries, keys, values, and what distance adds to the scores.
nlohmann::json look_at_parts(const Opened& model, const Question& question);

}  // namespace babygpt::workshop
