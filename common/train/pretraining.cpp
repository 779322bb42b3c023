#include "common/train/pretraining.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/format.h"
#include "common/base/thread_pool.h"

namespace babygpt {

namespace {

//> masking
// Chooses 15 % of the characters to be guessed: of these 80 % become [MASK], 10 % any character, and 10 % stay as they
// are, so that no place can be taken on trust. Special tokens are never chosen. Returns the label.
int choose(int& id, const CharacterTokenizer& tokenizer, Rng& rng) {
    if (rng.uniform() >= 0.15) return ignore_index;
    int label = id;
    double die = rng.uniform();
    int first = tokenizer.mask + 1;
    if (die < 0.8)
        id = tokenizer.mask;
    else if (die < 0.9)
        id = first + int(rng.below(tokenizer.tokens.size() - size_t(first)));
    return label;
}
//< masking

class PairsBatch : public DrawnBatch {
  public:
    explicit PairsBatch(MaskedPairs p)
        : pairs(std::move(p)),
          masked(size_t(std::ranges::count_if(pairs.labels.ids, [](int id) { return id != ignore_index; }))) {}
    int rows() const override { return pairs.input_ids.B; }
    size_t tokens() const override {
        size_t n = 0;
        for (int length : pairs.lengths) n += size_t(length);
        return n;
    }
    Tensor loss(const Module& model, int first, int last) const override;

  private:
    MaskedPairs pairs;
    size_t masked;
};

int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// Rows first to last - 1, without the columns in which all of them have padding.
struct Rows {
    BertInput input;
    Tokens labels, next_sentence_label;
};
Rows cut(const MaskedPairs& p, int first, int last) {
    std::vector<int> lengths(p.lengths.begin() + first, p.lengths.begin() + last);
    int T = round_up(*std::ranges::max_element(lengths), p.multiple), B = last - first;
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
           cross_entropy(out.seq_relationship_logits, rows.next_sentence_label, size_t(pairs.input_ids.B));
}

}  // namespace

MaskedPairs draw_pairs(const Sentences& text, const std::vector<Sentences::Pair>& pairs, int B, int block_size,
                       Rng& rng, int multiple) {
    struct Row {
        std::vector<int> a, b;
        int label;
    };
    std::vector<Row> rows;
    int T = 0;
    for (int i = 0; i < B; ++i) {
        const Sentences::Pair& pair = pairs[rng.below(pairs.size())];
        const Sentences::Pair* other = &pair;
        int label = int(rng.below(2));
        while (label && (other->document == pair.document || other->place != pair.place))
            other = &pairs[rng.below(pairs.size())];
        Row row{text.tokens[size_t(pair.first)], text.tokens[size_t(other->second)], label};
        while (int(row.a.size() + row.b.size()) + 3 > block_size)
            (row.a.size() > row.b.size() ? row.a : row.b).pop_back();
        T = std::max(T, int(row.a.size() + row.b.size()) + 3);
        rows.push_back(std::move(row));
    }
    T = round_up(T, multiple);
    const CharacterTokenizer& t = text.tokenizer;
    MaskedPairs result{Tokens(B, T), Tokens(B, T), Tokens(B, T, std::vector<int>(size_t(B * T), ignore_index)),
                       Tokens(B, 1), {},           multiple};
    for (int i = 0; i < B; ++i) {
        size_t at = size_t(i) * size_t(T), start = at;
        auto put = [&](int id, int type, int label) {
            result.input_ids.ids[at] = id, result.token_type_ids.ids[at] = type, result.labels.ids[at] = label;
            ++at;
        };
        auto put_sentence = [&](const std::vector<int>& ids, int type) {
            for (int id : ids) {
                int label = choose(id, t, rng);
                put(id, type, label);
            }
            put(t.sep, type, ignore_index);
        };
        put(t.cls, 0, ignore_index);
        put_sentence(rows[size_t(i)].a, 0);
        put_sentence(rows[size_t(i)].b, 1);
        result.next_sentence_label.ids[size_t(i)] = rows[size_t(i)].label;
        result.lengths.push_back(int(at - start));
    }
    return result;
}

Guesses guess(const PreTrainingModel& model, const MaskedPairs& batch) {
    NoGrad guessing;
    Rows rows = cut(batch, 0, batch.input_ids.B);
    BertForPreTrainingOutput out = model(rows.input);
    Guesses result;
    auto count = [](const Tensor& logits, const Tokens& labels, size_t& all, size_t& right) {
        size_t V = size_t(logits.size(-1));
        for (size_t i = 0; i < labels.ids.size(); ++i) {
            if (labels.ids[i] == ignore_index) continue;
            auto row = logits.values().subspan(i * V, V);
            ++all, right += std::ranges::max_element(row) - row.begin() == labels.ids[i];
        }
    };
    count(out.prediction_logits, rows.labels, result.masked, result.masked_right);
    count(out.seq_relationship_logits, rows.next_sentence_label, result.pairs, result.pairs_right);
    return result;
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
            .initializer_range = 0.02 * std::sqrt(768.0 / o.n_embd),  // BERT's 0.02 is for a width of 768
            .position_embedding_type = o.positions,
            .gradient_checkpointing = o.checkpoint,
            .chunk_size_feed_forward = o.chunk};
}

PreTraining::PreTraining(const Options& o, const Sentences& t, MakeBert m)
    : options(o),
      text(t),
      make(std::move(m)) {}

std::shared_ptr<Module> PreTraining::make_model(Rng& initialisation) const {
    return make(bert_config(options, int(text.tokenizer.tokens.size())), initialisation);
}

MaskedPairs PreTraining::draw(const std::vector<Sentences::Pair>& pairs, Rng& rng) const {
    return draw_pairs(text, pairs, options.batch_size, options.block_size, rng, std::max(1, options.chunk));
}

std::unique_ptr<DrawnBatch> PreTraining::draw(Part part, Rng& rng) const {
    const auto& pairs = part == Part::train ? text.train : text.val;
    return std::make_unique<PairsBatch>(draw(pairs, rng));
}

Checkpoint PreTraining::describe(const Module& model, int step, Losses losses) const {
    Corpus corpus{text.name, text.tokenizer.characters, {}, {}, {}, nullptr, text.hash};
    return describe_model(options, corpus, model, step, losses.train, losses.val);
}

std::string PreTraining::introduce() const { return "text\n"; }

std::string PreTraining::remark(double, const Module* model) const {
    if (!model) return "";
    Guesses g = guesses(*model, options.eval_batches);
    return format("masked %.1f%%, follows %.1f%%", 100 * g.masked_accuracy(), 100 * g.follows_accuracy());
}

Guesses PreTraining::guesses(const Module& model, int batches) const {
    ThreadPool pool(thread_count(options));
    std::vector<Guesses> of(size_t(batches), Guesses{});
    pool.run([&](int worker) {
        for (int i = worker; i < batches; i += pool.size()) {
            Rng rng(options.seed, "guesses", uint64_t(i));
            of[size_t(i)] = guess(static_cast<const PreTrainingModel&>(model), draw(text.val, rng));
        }
    });
    Guesses sum;
    for (const Guesses& g : of) {
        sum.masked += g.masked, sum.masked_right += g.masked_right;
        sum.pairs += g.pairs, sum.pairs_right += g.pairs_right;
    }
    return sum;
}

void PreTraining::show(const Module& model, const Tell& tell) const {
    Guesses g = guesses(model, 100);
    tell({{"final", {{"masked_accuracy", g.masked_accuracy()}, {"follows_accuracy", g.follows_accuracy()}}}}, "",
         format("masked %.4f follows %.4f\n", g.masked_accuracy(), g.follows_accuracy()));
}

}  // namespace babygpt
