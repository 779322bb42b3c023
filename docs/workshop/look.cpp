#include "docs/workshop/look.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/format.h"
#include "common/text/utf8.h"
#include "common/write/display.h"
#include "common/write/fill.h"
#include "common/write/sampler.h"
#include "common/write/translator.h"
#include "docs/workshop/base64.h"

namespace babygpt::workshop {

namespace {

using Json = nlohmann::json;

constexpr size_t guesses = 8;
constexpr int covered_at_once = 16;

int number_after(const std::string& name, const std::string& word) {  // "blocks.2.attention", "blocks.": 2
    size_t at = name.find(word);
    return at == name.npos ? 0 : std::atoi(name.c_str() + at + word.size());
}

// (B, T, C) or (B, T, heads, H): the numbers of one head, (T, H).
std::vector<real> part_of(const Tensor& x, int head, int heads) {
    size_t T = size_t(x.size(1)), C = x.count() / T, H = C / size_t(heads);
    std::vector<real> numbers;
    for (size_t t = 0; t < T; ++t) {
        std::span<const real> row = x.values().subspan(t * C + size_t(head) * H, H);
        numbers.insert(numbers.end(), row.begin(), row.end());
    }
    return numbers;
}

real dot(const real* a, const real* b, int n) {
    real sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

struct Product {
    real content, distance;
};
Product score(const Head& head, int i, int j, bool of_key_too) {
    const real *q = &head.q[size_t(i * head.size)], *k = &head.k[size_t(j * head.size)];
    Product s{dot(q, k, head.size), 0};
    if (!head.d.node) return s;
    const real* d = &head.d.values()[size_t((i * head.columns + j) * head.size)];
    s.distance = dot(q, d, head.size) + (of_key_too ? dot(k, d, head.size) : 0);
    return s;
}

// What share of the scores' size comes from how far apart two places are, over all that are looked at.
double distance_share(const Head& head, bool of_key_too) {
    double content = 0, distance = 0;
    for (int i = 0; i < head.rows; ++i)
        for (int j = 0; j < head.columns; ++j)
            if (head.weights[size_t(i * head.columns + j)] > 0) {
                Product s = score(head, i, j, of_key_too);
                content += std::abs(s.content), distance += std::abs(s.distance);
            }
    return distance / std::max(content + distance, 1e-30);
}

// A model's reading of a text.
struct Reading {
    std::vector<std::string> read, written;  // written: only by a translator
    std::vector<int> ids;                    // of the tokens that are guessed
    Tensor logits;                           // (1, T, V)
    std::vector<Head> heads;
    int cut = 0, padding = 0;  // characters that did not fit; [PAD]s at the end
    std::string translation = {};
};

std::vector<std::string> names(const Tokenizer& tokenizer, std::span<const int> ids) {
    std::vector<std::string> all;
    for (int id : ids) all.push_back(tokenizer.tokens[size_t(id)]);
    return all;
}

Reading read_to_go_on(const Opened& opened, const Question& question) {
    std::vector<int> ids = opened.vocabulary().encode(decode_utf8(question.text, "the text"), "text");
    if (ids.empty()) fail("there is no text to look at; type one");
    int cut = std::max(0, int(ids.size()) - opened.options.block_size);
    ids.erase(ids.begin(), ids.begin() + cut);
    Recording recording;
    Tensor logits = (*opened.writer)(Tokens(1, int(ids.size()), ids));
    std::vector<std::string> read;
    for (int id : ids) read.push_back(opened.vocabulary().decode({&id, 1}));
    return {read, {}, ids, logits, heads_of(recording, opened.module()), cut};
}

// [CLS] text [SEP], and perhaps second [SEP] and [PAD]s. Each _ is a blank.
BertInput bert_input(const Opened& opened, const Question& question) {
    const CharacterTokenizer& t = opened.tokenizer;
    std::vector<int> ids{t.cls}, types{0};
    for (int type = 0; type < (question.second.empty() ? 1 : 2); ++type) {
        const std::string name = type ? "second text" : "text";
        std::vector<int> its = t.encode_blanks(type ? question.second : question.text, name);
        ids.insert(ids.end(), its.begin(), its.end());
        ids.push_back(t.sep), types.resize(ids.size(), type);
    }
    int length = int(ids.size()), T = length + question.padding;
    if (T > opened.options.block_size)
        fail("the text is too long: with [CLS], [SEP] and [PAD] it has ", T, " tokens, the model reads at most ",
             opened.options.block_size);
    ids.resize(size_t(T), t.pad), types.resize(size_t(T), 0);
    return {
        .input_ids = Tokens(1, T, ids), .token_type_ids = Tokens(1, T, types), .attention_mask = padding({length}, T)};
}

Reading read_to_fill(const Opened& opened, const Question& question) {
    BertInput input = bert_input(opened, question);
    Recording recording;
    Tensor logits = (*opened.reader)(input).prediction_logits;
    const std::vector<int>& ids = input.input_ids->ids;
    return {.read = names(opened.tokenizer, ids),
            .written = {},
            .ids = ids,
            .logits = logits,
            .heads = heads_of(recording, opened.module()),
            .padding = question.padding};
}

Reading read_to_translate(const Opened& opened, const Question& question) {
    Translator translator{*opened.translator, opened.tokenizer, opened.options.block_size};
    std::string translation = translate(translator, {question.text})[0];
    std::vector<int> read = encoder_tokens(translator, question.text);
    const auto [before, written] = decoder_tokens(translator, translation);
    Recording recording;
    Tensor states = opened.translator->encode({.input_ids = Tokens(1, int(read.size()), read)});
    Tensor logits = opened.translator->decode(
        {.input_ids = Tokens(1, int(before.size()), before), .encoder_hidden_states = states});
    return {.read = names(opened.tokenizer, read),
            .written = names(opened.tokenizer, written),
            .ids = written,
            .logits = logits,
            .heads = heads_of(recording, opened.module()),
            .translation = translation};
}

// The number that a head had before those of its layer that are gone were cut out.
int number_at_first(int number, const std::set<int>& gone) {
    for (int other : gone)
        if (other <= number) ++number;
    return number;
}

// An answer has a weight for each head and each two places. Before, a layer that knows distances has a vector for them,
// and one of a BERT's has weights for as many texts as are covered at once.
void refuse_large(const Opened& opened, const Question& question) {
    constexpr double most = 3e7;
    const Options& o = opened.options;
    int layers = std::max(o.n_layer, 1), heads = std::max(o.n_head, 1), T = o.block_size;
    double each = layers * heads;
    if (o.positions.starts_with("relative")) each += layers * (o.n_embd / heads);
    if (opened.reader) each += covered_at_once * heads;
    if (opened.translator)
        each *= 3;  // it reads, writes, and looks from the one to the other; what it writes may fill the block
    else
        T = std::min(T, int(utf8_length(question.text) + utf8_length(question.second)) + question.padding + 3);
    if (each * T * T > most)
        fail("at most ", int(std::sqrt(most / each)), " characters can be looked at in this model, not ", T);
}

Reading read(const Opened& opened, const Question& question) {
    refuse_large(opened, question);
    if (opened.writer) return read_to_go_on(opened, question);
    if (opened.translator) return read_to_translate(opened, question);
    Reading reading = read_to_fill(opened, question);
    HeadsByLayer gone = parse_heads(opened.options.pruned_heads);
    for (Head& head : reading.heads) head.number = number_at_first(head.number, gone[head.layer]);
    return reading;
}

// The likeliest tokens of a row of logits, and the surprise by the one that is there; special ones are not guessed.
struct Guessed {
    Json likely = Json::array(), surprise = Json::array();

    void add(const Opened& opened, std::span<const real> row, int there) {
        check_scores(row);
        std::vector<double> p = probabilities(row);
        auto name = [&](int id) {
            return opened.writer ? opened.vocabulary().decode({&id, 1}) : opened.tokenizer.tokens[size_t(id)];
        };
        Json best = Json::array();
        for (int id : likeliest(p, guesses)) best.push_back({name(id), p[size_t(id)]});
        likely.push_back(best);
        surprise.push_back(there < 0 ? Json() : Json(-std::log(std::max(p[size_t(there)], 1e-30))));
    }
};

std::span<const real> row_of(const Tensor& logits, size_t row) {
    size_t V = size_t(logits.size(-1));
    return logits.values().subspan(row * V, V);
}

// What a BERT guesses for each character when that alone is covered.
void guess_covered(const Opened& opened, const BertInput& input, Guessed& guessed) {
    const CharacterTokenizer& t = opened.tokenizer;
    const std::vector<int>&ids = input.input_ids->ids, &types = input.token_type_ids->ids;
    int T = int(ids.size());
    for (int first = 0; first < T; first += covered_at_once) {
        int rows = std::min(covered_at_once, T - first);
        std::vector<int> all, all_types;
        for (int row = 0; row < rows; ++row) {
            all.insert(all.end(), ids.begin(), ids.end()),
                all_types.insert(all_types.end(), types.begin(), types.end());
            int& covered = all[size_t(row * T + first + row)];
            if (covered > t.mask) covered = t.mask;
        }
        Tensor logits = (*opened.reader)({.input_ids = Tokens(rows, T, all),
                                          .token_type_ids = Tokens(rows, T, all_types),
                                          .attention_mask = input.attention_mask})
                            .prediction_logits;
        for (int row = 0; row < rows; ++row) {
            int there = ids[size_t(first + row)];
            if (there >= t.mask)
                guessed.add(opened, row_of(logits, size_t(row * T + first + row)), there == t.mask ? -1 : there);
            else
                guessed.likely.push_back(Json::array()), guessed.surprise.push_back(Json());
        }
    }
}

// Whether place i may look at place j.
bool is_seen(const Opened& opened, const Reading& reading, const Head& head, int i, int j) {
    if (opened.reader) return j < head.columns - reading.padding;
    return j <= i || head.part == "encoder" || head.part == "cross";
}

}  // namespace

std::vector<Head> heads_of(const Recording& recording, const Module& module) {
    std::map<const Node*, std::string> parameters;
    for (const auto& [name, tensor] : module.parameters) parameters[tensor.node.get()] = name;
    std::vector<Head> heads;
    std::string layer;
    Tensor q, k, v, d;
    for (const auto& [weight, result] : recording.entries) {
        if (weight.node) {
            std::string name = parameters[weight.node.get()];
            if (name.ends_with("query.weight")) q = result, layer = name;
            if (name.ends_with("key.weight")) k = result;
            if (name.ends_with("value.weight")) v = result;
            if (name.ends_with("distance_embedding.weight")) d = result;
            continue;
        }
        int count = result.shape().size() == 4 ? result.size(1) : 1;
        int rows = result.size(-2), columns = result.size(-1), size = int(q.count()) / rows / count;
        std::string part = layer.find("crossattention") != layer.npos ? "cross"
                           : layer.starts_with("encoder.")            ? "encoder"
                           : layer.starts_with("decoder.")            ? "decoder"
                                                                      : "";
        for (int i = 0; i < count; ++i) {
            std::span<const real> weights = result.values().subspan(size_t(i * rows * columns), size_t(rows * columns));
            check_scores(weights);  // a layer behind them may make a number of what is none
            Head head{part,
                      std::max(number_after(layer, "blocks."), number_after(layer, "layer.")),
                      count > 1 ? i : number_after(layer, "heads."),
                      rows,
                      columns,
                      size,
                      part_of(q, i, count),
                      part_of(k, i, count),
                      part_of(v, i, count),
                      d,
                      {weights.begin(), weights.end()}};
            heads.push_back(std::move(head));
        }
        d = {};
    }
    return heads;
}

Json look(const Opened& opened, const Question& question) {
    NoGrad looking;
    Reading reading = read(opened, question);
    Guessed guessed;
    if (opened.reader) {
        guess_covered(opened, bert_input(opened, question), guessed);
    } else {
        for (size_t i = 0; i < reading.ids.size(); ++i) {
            int after = i + 1 < reading.ids.size() ? reading.ids[i + 1] : -1;  // a translator's are shifted already
            guessed.add(opened, row_of(reading.logits, i), opened.translator ? reading.ids[i] : after);
        }
    }
    Json heads = Json::array();
    for (const Head& head : reading.heads) {
        Json json = {{"part", head.part},
                     {"layer", head.layer},
                     {"head", head.number},
                     {"rows", head.rows},
                     {"columns", head.columns},
                     {"size", head.size},
                     {"weights", base64_of_shares(head.weights)}};
        if (head.d.node) json["distance"] = distance_share(head, opened.options.positions == "relative_key_query");
        heads.push_back(std::move(json));
    }
    Json answer = {
        {"stage", opened.options.stage}, {"step", opened.step},          {"read", reading.read}, {"cut", reading.cut},
        {"likely", guessed.likely},      {"surprise", guessed.surprise}, {"heads", heads}};
    if (opened.translator) answer["written"] = reading.written, answer["translation"] = reading.translation;
    if (reading.padding) answer["padding"] = reading.padding;
    return answer;
}

Json look_at_parts(const Opened& opened, const Question& question) {
    NoGrad looking;
    Json parts = Json::array();
    for (const Head& head : read(opened, question).heads) {
        Json json = {{"part", head.part},
                     {"layer", head.layer},
                     {"head", head.number},
                     {"columns", head.columns},
                     {"size", head.size},
                     {"query", base64_of_numbers(head.q)},
                     {"key", base64_of_numbers(head.k)},
                     {"value", base64_of_numbers(head.v)}};
        if (head.d.node) {
            std::vector<real> distance;
            for (int i = 0; i < head.rows; ++i)
                for (int j = 0; j < head.columns; ++j)
                    distance.push_back(score(head, i, j, opened.options.positions == "relative_key_query").distance);
            json["distance"] = base64_of_numbers(distance);
        }
        parts.push_back(std::move(json));
    }
    return parts;
}

Json look_at_row(const Opened& opened, const Question& question, const std::string& part, int layer, int number,
                 int row) {
    NoGrad looking;
    Reading reading = read(opened, question);
    auto found = std::ranges::find_if(
        reading.heads, [&](const Head& h) { return h.part == part && h.layer == layer && h.number == number; });
    if (found == reading.heads.end()) fail("the model has no such head: layer ", layer, ", head ", number);
    const Head& head = *found;
    if (row < 0 || row >= head.rows) fail("there is no place ", row, " in a text of ", head.rows);
    Json places = Json::array();
    size_t H = size_t(head.size);
    std::vector<double> result(H);
    for (int j = 0; j < head.columns; ++j) {
        Product s = score(head, row, j, opened.options.positions == "relative_key_query");
        double weight = head.weights[size_t(row * head.columns + j)];
        Json place = {{"content", s.content},
                      {"scaled", (s.content + s.distance) / std::sqrt(real(head.size))},
                      {"seen", is_seen(opened, reading, head, row, j)},
                      {"weight", weight}};
        if (head.d.node) place["distance"] = s.distance;
        places.push_back(place);
        for (size_t c = 0; c < H; ++c) result[c] += weight * head.v[size_t(j) * H + c];
    }
    return {{"size", head.size}, {"query", std::span(head.q).subspan(size_t(row) * H, H)},
            {"keys", head.k},    {"values", head.v},
            {"places", places},  {"result", result}};
}

}  // namespace babygpt::workshop
