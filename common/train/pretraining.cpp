#include "common/train/pretraining.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/format.h"
#include "common/base/thread_pool.h"
#include "common/train/pretrained.h"
#include "common/train/ranks.h"
#include "common/write/fill.h"
#include "common/write/sampler.h"

namespace babygpt {

namespace {

constexpr double follows_weight = 3;  // BERT's is 1: here "follows" came so late that a seed in three had not learnt it

struct Row {
    std::vector<int> ids, types, labels;
    int follows = 0;
};

//> masking
// Chooses 15 % of the characters to be guessed, never a special token. Of these 80 % become [MASK], 10 % any character,
// and 10 % stay as they are, so that no place can be taken on trust. Returns the label: what stood there, if it counts.
int mask(int& id, const CharacterTokenizer& tokenizer, Rng& rng) {
    bool special = id <= tokenizer.mask;
    if (special || rng.uniform() >= 0.15) return ignore_index;
    int label = id, first = tokenizer.mask + 1;
    double die = rng.uniform();
    if (die < 0.8)
        id = tokenizer.mask;
    else if (die < 0.9)
        id = first + int(rng.below(size_t(tokenizer.size() - first)));
    return label;
}
//< masking

size_t counted(const Tokens& labels) {
    return labels.ids.size() - size_t(std::ranges::count(labels.ids, ignore_index));
}

class PairsBatch : public DrawnBatch {
  public:
    explicit PairsBatch(MaskedPairs p)
        : pairs(std::move(p)),
          masked(counted(pairs.labels)),
          judged(counted(pairs.next_sentence_label)) {}
    int rows() const override { return pairs.input_ids.B; }
    size_t tokens() const override {
        size_t n = 0;
        for (int length : pairs.lengths) n += size_t(length);
        return n;
    }
    Tensor loss(const Module& model, int first, int last) const override;

  private:
    MaskedPairs pairs;
    size_t masked, judged;  // how many characters and pairs count
};

// Rows first to last - 1, without the columns in which all of them have padding.
struct Rows {
    BertInput input;
    Tokens labels, next_sentence_label;
};
Rows cut(const MaskedPairs& p, int first, int last) {
    std::vector<int> lengths(p.lengths.begin() + first, p.lengths.begin() + last);
    int T = *std::ranges::max_element(lengths), B = last - first;
    auto part = [&](const Tokens& all, int columns) {
        Tokens some(B, columns);
        for (int b = 0; b < B; ++b)
            std::copy_n(all.ids.begin() + std::ptrdiff_t(first + b) * all.T, columns,
                        some.ids.begin() + std::ptrdiff_t(b) * columns);
        return some;
    };
    return {{.input_ids = part(p.input_ids, T),
             .token_type_ids = part(p.token_type_ids, T),
             .attention_mask = padding(lengths, T)},
            part(p.labels, T),
            part(p.next_sentence_label, 1)};
}

Tensor PairsBatch::loss(const Module& model, int first, int last) const {
    Rows rows = cut(pairs, first, last);
    BertForPreTrainingOutput out = static_cast<const PreTrainingModel&>(model)(rows.input);
    return cross_entropy(out.prediction_logits, rows.labels, masked) +
           cross_entropy(out.seq_relationship_logits, rows.next_sentence_label, judged) * follows_weight;
}

// [CLS] a [SEP] b [SEP], or [CLS] a [SEP] where there is no b, with nothing to guess yet. What does not fit loses its
// end, the longer sentence first.
Row join(std::vector<int> a, std::vector<int> b, const Tokenizer& t, int block_size) {
    while (int(a.size() + b.size()) + 3 > block_size) (a.size() > b.size() ? a : b).pop_back();
    Row row{{t.cls}, {0}, {}};
    for (const std::vector<int>* sentence : {&a, &b}) {
        if (sentence->empty()) continue;
        row.ids.insert(row.ids.end(), sentence->begin(), sentence->end());
        row.ids.push_back(t.sep);
        row.types.resize(row.ids.size(), sentence == &b);
    }
    row.labels.resize(row.ids.size(), ignore_index);
    return row;
}

MaskedPairs stack(const std::vector<Row>& rows) {
    int B = int(rows.size()), T = 0;
    for (const Row& row : rows) T = std::max(T, int(row.ids.size()));
    Tokens none(B, T, std::vector<int>(size_t(B) * size_t(T), ignore_index));
    MaskedPairs batch{Tokens(B, T), Tokens(B, T), none, Tokens(B, 1), {}};
    for (size_t b = 0; b < rows.size(); ++b) {
        std::ptrdiff_t start = std::ptrdiff_t(b) * T;
        std::ranges::copy(rows[b].ids, batch.input_ids.ids.begin() + start);
        std::ranges::copy(rows[b].types, batch.token_type_ids.ids.begin() + start);
        std::ranges::copy(rows[b].labels, batch.labels.ids.begin() + start);
        batch.next_sentence_label.ids[b] = rows[b].follows;
        batch.lengths.push_back(int(rows[b].ids.size()));
    }
    return batch;
}

}  // namespace

//> draw
MaskedPairs draw_pairs(const Sentences& text, Part part, int B, int block_size, Rng& rng) {
    const std::vector<Sentences::Pair>& pairs = part == Part::train ? text.train : text.val;
    size_t begin = part == Part::train ? 0 : size_t(text.val_begins),
           end = part == Part::train ? size_t(text.val_begins) : text.tokens.size();
    std::vector<Row> rows;
    for (int i = 0; i < B; ++i) {
        std::vector<int> a, b;
        int label = ignore_index;
        if (rng.below(8) == 0) {  // one sentence alone, of any kind
            a = text.tokens[begin + rng.below(end - begin)];
        } else {
            const Sentences::Pair& pair = pairs[rng.below(pairs.size())];
            const Sentences::Pair* second = &pair;
            label = int(rng.below(2));  // 0: b belongs to a; 1: it comes from elsewhere
            while (label == 1 && (second->document == pair.document || second->place != pair.place))
                second = &pairs[rng.below(pairs.size())];
            a = text.tokens[size_t(pair.first)], b = text.tokens[size_t(second->second)];
        }
        Row row = join(a, b, text.tokenizer, block_size);
        for (size_t t = 0; t < row.ids.size(); ++t) row.labels[t] = mask(row.ids[t], text.tokenizer, rng);
        row.follows = label;
        rows.push_back(std::move(row));
    }
    return stack(rows);
}
//< draw

std::unique_ptr<DrawnBatch> pairs_batch(MaskedPairs pairs) { return std::make_unique<PairsBatch>(std::move(pairs)); }

Guesses guess(const PreTrainingModel& model, const MaskedPairs& batch) {
    NoGrad guessing;
    Rows rows = cut(batch, 0, batch.input_ids.B);
    BertForPreTrainingOutput out = model(rows.input);
    Guesses result;
    auto count = [](const Tensor& logits, const Tokens& labels, size_t& all, size_t& right) {
        size_t V = size_t(logits.size(-1));
        for (size_t i = 0; i < labels.ids.size(); ++i) {
            if (labels.ids[i] == ignore_index) continue;
            ++all, right += argmax(logits.values().subspan(i * V, V)) == labels.ids[i];
        }
    };
    count(out.prediction_logits, rows.labels, result.masked, result.masked_right);
    count(out.seq_relationship_logits, rows.next_sentence_label, result.pairs, result.pairs_right);
    return result;
}

namespace {

std::map<std::string, SlotGuesses> of_all_ranks(const std::map<std::string, SlotGuesses>& mine) {
    if (ranks::count() == 1) return mine;
    nlohmann::json own;
    for (const auto& [kind, guesses] : mine) own[kind] = {guesses.slots, guesses.right};
    std::vector<std::string> parts(size_t(ranks::count()), own.dump());
    ranks::share(parts);
    std::map<std::string, SlotGuesses> all;
    for (const std::string& part : parts) {
        const nlohmann::json theirs = nlohmann::json::parse(part);
        for (const auto& [kind, counts] : theirs.items())
            all[kind].slots += counts[0].get<size_t>(), all[kind].right += counts[1].get<size_t>();
    }
    return all;
}

}  // namespace

std::map<std::string, SlotGuesses> guess_slots(const PreTrainingModel& model, const Sentences& text, size_t most_pairs,
                                               int block_size) {
    std::map<std::string, SlotGuesses> result;
    size_t pairs = text.spans.empty() ? 0 : std::min(most_pairs, text.val.size());
    size_t sentences = text.tokens.size() - size_t(text.val_begins);
    // Pairs, and as many sentences alone for what is in no pair.
    for (size_t i = size_t(ranks::rank()); i < 2 * pairs; i += size_t(ranks::count())) {
        bool alone = i >= pairs;
        const Sentences::Pair& pair = text.val[i % pairs * text.val.size() / pairs];
        int first = alone ? text.val_begins + int(i % pairs * sentences / pairs) : pair.first;
        const std::vector<int>&a = text.tokens[size_t(first)], none,
              &b = alone ? none : text.tokens[size_t(pair.second)];
        if (int(a.size() + b.size()) + 3 > block_size) continue;  // it would lose its end, and slots their places
        std::vector<Row> rows;
        std::vector<std::string> kinds;  // of each row's blank
        auto blank = [&](int sentence, size_t start) {
            for (const Span& span : text.spans[size_t(sentence)]) {
                Row row = join(a, b, text.tokenizer, block_size);
                size_t t = start + span.first + i % span.length;
                bool in_pairs = std::ranges::count(paired_kinds, span.kind);
                if (alone == in_pairs) continue;
                row.labels[t] = std::exchange(row.ids[t], text.tokenizer.mask);
                rows.push_back(std::move(row)), kinds.push_back(span.kind);
            }
        };
        blank(first, 1);
        if (!alone) blank(pair.second, a.size() + 2);
        if (rows.empty()) continue;
        NoGrad guessing;
        MaskedPairs batch = stack(rows);
        Tensor logits = model(cut(batch, 0, batch.input_ids.B).input).prediction_logits;  // (B, T, V)
        size_t V = size_t(logits.size(-1));
        for (size_t at = 0; at < batch.labels.ids.size(); ++at) {
            if (batch.labels.ids[at] == ignore_index) continue;
            SlotGuesses& guesses = result[kinds[at / size_t(batch.labels.T)]];
            ++guesses.slots, guesses.right += argmax(logits.values().subspan(at * V, V)) == batch.labels.ids[at];
        }
    }
    return of_all_ranks(result);
}

BertConfig bert_config(const Options& o, int vocab_size) {
    return {.vocab_size = vocab_size,
            .hidden_size = o.n_embd,
            .num_hidden_layers = o.n_layer,
            .num_attention_heads = o.n_head,
            .intermediate_size = 4 * o.n_embd,
            .hidden_dropout_prob = o.dropout,
            .attention_probs_dropout_prob = o.dropout,
            .max_position_embeddings = o.block_size,
            .initializer_range = 0.5 / std::sqrt(o.n_embd),  // at BERT's width of 768 about its 0.02
            .position_embedding_type = o.positions,
            .gradient_checkpointing = std::max(0, o.checkpoint),
            .chunk_size_feed_forward = o.chunk,
            .pruned_heads = parse_heads(o.pruned_heads)};
}

PairBaselines measure_baselines(const Sentences& text) {
    std::vector<double> count(text.tokenizer.tokens.size());
    double all = 0, chosen = 0, nats = 0;
    auto for_tokens = [&](const std::vector<Sentences::Pair>& pairs, auto f) {
        for (const Sentences::Pair& pair : pairs)
            for (int number : {pair.first, pair.second})
                for (int id : text.tokens[size_t(number)]) f(size_t(id));
    };
    const double coin = follows_weight * std::log(2.0);  // follows, or does not
    int V = text.tokenizer.characters.size();
    for_tokens(text.train, [&](size_t id) { ++count[id], ++all; });
    for_tokens(text.val, [&](size_t id) { ++chosen, nats -= std::log((count[id] + 1) / (all + V)); });
    return {std::log(double(V)) + coin, nats / chosen + coin};
}

PreTraining::PreTraining(const Options& o, const Sentences& t, MakeBert m)
    : options(o),
      text(t),
      baselines(measure_baselines(t)),
      make(std::move(m)) {}

std::shared_ptr<Module> PreTraining::make_model(Rng& initialisation) const {
    return make(bert_config(options, text.tokenizer.size()), initialisation);
}

std::unique_ptr<DrawnBatch> PreTraining::draw(Part part, Rng& rng) const {
    return pairs_batch(draw_pairs(text, part, options.batch_size, options.block_size, rng));
}

Checkpoint PreTraining::describe(const Module& model, int step, Losses losses) const {
    Corpus corpus{text.name, text.tokenizer.characters, {}, {}, {}, nullptr, text.hash};
    Checkpoint checkpoint = describe_model(options, corpus, model, step, losses.train, losses.val);
    checkpoint.metadata["format"] = "pt";  // Hugging Face opens no file that does not say so
    return checkpoint;
}

std::vector<Objective::File> PreTraining::files() const {
    std::string vocabulary;
    for (const std::string& token : text.tokenizer.tokens) vocabulary += token + "\n";
    return {{"config.json", save_config(bert_config(options, text.tokenizer.size()))}, {"vocab.txt", vocabulary}};
}

std::string PreTraining::introduce() const {
    return "text    " + text.name + ": " + with_commas(double(text.tokens.size())) + " sentences, " +
           with_commas(double(text.train.size() + text.val.size())) + " pairs that belong together, " +
           str(text.tokenizer.characters.size(), " different characters; the last tenth is for validation\n") +
           format(
               "ruler   knowing nothing %.3f, unigram %.3f nats: of a masked character, and %g times of what follows\n",
               baselines.uniform, baselines.unigram, follows_weight);
}

std::string PreTraining::remark(double, const Module* model) const {
    if (!model) return "";
    Guesses g = guesses(*model, options.eval_batches);
    return format("masked %.1f%%, follows %.1f%%", 100 * g.masked_accuracy(), 100 * g.follows_accuracy());
}

Guesses PreTraining::guesses(const Module& model, int batches) const {
    ThreadPool pool(thread_count(options));
    std::vector<Guesses> parts(size_t(batches), Guesses{});
    pool.run([&](int worker) {
        for (int i = ranks::rank() * pool.size() + worker; i < batches; i += ranks::count() * pool.size()) {
            Rng rng(options.seed, "evaluation of val", uint64_t(i));
            parts[size_t(i)] = guess(static_cast<const PreTrainingModel&>(model),
                                     draw_pairs(text, Part::val, options.batch_size, options.block_size, rng));
        }
    });
    std::array<double, 4> all{};
    for (const Guesses& part : parts) {
        all[0] += double(part.masked), all[1] += double(part.masked_right);
        all[2] += double(part.pairs), all[3] += double(part.pairs_right);
    }
    ranks::sum(all);
    return {size_t(all[0]), size_t(all[1]), size_t(all[2]), size_t(all[3])};
}

void PreTraining::show(const Module& module, const Tell& tell) const {
    const auto& model = static_cast<const PreTrainingModel&>(module);
    constexpr int examples = 3;
    const int batches = std::max(1, options.eval_batches * 5 / 2);  // what is shown is measured more closely
    const size_t pairs = size_t(batches) * 3;
    Guesses g = guesses(model, batches);
    const std::string unseen =
        format("unseen  %.1f%% of %zu masked characters are guessed, %.1f%% of %zu pairs judged rightly\n",
               100 * g.masked_accuracy(), g.masked, 100 * g.follows_accuracy(), g.pairs);
    const std::string in_short = format("%.1f%% of blanks, %.1f%% of pairs right\n", 100 * g.masked_accuracy(),
                                        100 * g.follows_accuracy());  // for the report's table
    std::string said;
    nlohmann::json found = {
        {"vocab_size", text.tokenizer.size()},
        {"baselines", {{"uniform", baselines.uniform}, {"unigram", baselines.unigram}}},
        {"final", {{"masked_accuracy", g.masked_accuracy()}, {"follows_accuracy", g.follows_accuracy()}}}};
    for (const auto& [kind, slots] : guess_slots(model, text, pairs, options.block_size)) {
        found["slots"][kind] = {{"slots", slots.slots}, {"right", slots.right}};
        said +=
            format("        %4zu of %4zu with one character of a %s masked\n", slots.right, slots.slots, kind.c_str());
    }
    Reader reader{model, text.tokenizer, options.block_size};
    Rng rng(options.seed, "examples");
    for (int i = 0; i < examples; ++i) {
        auto [first, second] = blanked(text.val[rng.below(text.val.size())], rng);
        std::vector<std::string> filled = fill_blanks(reader, {first, second}).texts;
        said += "\n" + first + " " + second + "\n" + filled[0] + " " + filled[1] + "\n";
    }
    found["sample"] = in_short + said;
    tell(found, unseen + said, unseen + said);
}

std::pair<std::string, std::string> PreTraining::blanked(const Sentences::Pair& pair, Rng& rng) const {
    const CharacterTokenizer& t = text.tokenizer;
    Row row = join(text.tokens[size_t(pair.first)], text.tokens[size_t(pair.second)], t, options.block_size);
    size_t end = size_t(std::ranges::find(row.ids, t.sep) - row.ids.begin());
    std::string second;
    for (size_t i = end + 1; i + 1 < row.ids.size(); ++i) {
        bool last_chance = i + 2 == row.ids.size() && second.find('_') == second.npos;
        second += rng.uniform() < 0.15 || last_chance ? "_" : t.tokens[size_t(row.ids[i])];
    }
    return {t.decode(std::span(row.ids).subspan(1, end - 1)), second};
}

}  // namespace babygpt
