#include "common/train/pretraining.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/format.h"
#include "common/base/thread_pool.h"
#include "common/text/baselines.h"
#include "common/train/pretrained.h"
#include "common/train/ranks.h"
#include "common/write/fill.h"

namespace babygpt {

namespace {

constexpr double follows_weight = 3;  // BERT's is 1: here "follows" came so late that a seed in three had not learnt it

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

Tensor PairsBatch::loss(const Module& model, int first, int last) const {
    PairsInput rows = cut(pairs, first, last);
    BertForPreTrainingOutput out = static_cast<const PreTrainingModel&>(model)(rows.input);
    return cross_entropy(std::move(out.prediction_logits), rows.labels, masked) +
           cross_entropy(std::move(out.seq_relationship_logits), rows.next_sentence_label, judged) * follows_weight;
}

}  // namespace

std::unique_ptr<DrawnBatch> pairs_batch(MaskedPairs pairs) { return std::make_unique<PairsBatch>(std::move(pairs)); }

PairBaselines measure_baselines(const Sentences& text) {
    auto read = [&](const std::vector<Sentences::Pair>& pairs) {
        std::vector<int> all;
        for (const Sentences::Pair& pair : pairs)
            for (int number : {pair.first, pair.second}) {
                const std::vector<int>& ids = text.tokens[size_t(number)];
                all.insert(all.end(), ids.begin(), ids.end());
            }
        return all;
    };
    const double coin = follows_weight * std::log(2.0);  // follows, or does not
    const int V = text.tokenizer.characters.size();
    return {std::log(double(V)) + coin, Unigram(read(text.train), V).loss(read(text.val)) + coin};
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
           cut_pairs() +
           format(
               "ruler   knowing nothing %.3f, unigram %.3f nats: of a masked character, and %g times of what follows\n",
               baselines.uniform, baselines.unigram, follows_weight);
}

std::string PreTraining::cut_pairs() const {
    size_t cut = 0, all = text.train.size() + text.val.size();
    int longest = 0;
    for (const std::vector<Sentences::Pair>& part : {text.train, text.val})
        for (const Sentences::Pair& pair : part) {
            int length = joined_length(text.tokens[size_t(pair.first)], text.tokens[size_t(pair.second)]);
            cut += length > options.block_size, longest = std::max(longest, length);
        }
    if (!cut) return "";
    return "cut     " + with_commas(double(cut)) + " of " + with_commas(double(all)) +
           str(" pairs lose their ends, as they are longer than --block-size ", options.block_size, "; ", longest,
               " is enough for all\n");
}

std::string PreTraining::remark(double, const Module* model) const {
    if (!model) return "";
    Guesses g = guesses(*model, options.eval_batches);
    return format("masked %.1f%%, follows %.1f%%", 100 * g.masked_accuracy(), 100 * g.follows_accuracy());
}

Guesses PreTraining::guesses(const Module& model, int batches, std::string_view stream) const {
    ThreadPool pool(thread_count(options));
    std::vector<Guesses> parts(size_t(batches), Guesses{});
    pool.run([&](int worker) {
        for (int i = ranks::rank() * pool.size() + worker; i < batches; i += ranks::count() * pool.size()) {
            Rng rng(options.seed, stream, uint64_t(i));
            parts[size_t(i)] = guess(static_cast<const PreTrainingModel&>(model),
                                     draw_pairs(text, Part::val, options.batch_size, options.block_size, rng));
        }
    });
    std::array<double, 4> all{};
    for (const Guesses& part : parts) {
        all[0] += double(part.masked), all[1] += double(part.masked_right);
        all[2] += double(part.pairs), all[3] += double(part.pairs_right);
    }
    ranks::all_reduce(all);
    return {size_t(all[0]), size_t(all[1]), size_t(all[2]), size_t(all[3])};
}

void PreTraining::show(const Module& module, const Tell& tell) const {
    const auto& model = static_cast<const PreTrainingModel&>(module);
    constexpr int examples = 3;
    const int batches = std::max(1, options.eval_batches * 5 / 2);  // what is shown is measured more closely
    const size_t pairs = size_t(batches) * 3;
    Guesses g = guesses(model, batches, "unseen pairs");  // not those by which the best model was chosen
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
    auto with_blanks = [&](const std::vector<int>& ids) {
        std::string shown;
        for (int id : ids) shown += id == text.tokenizer.mask ? "_" : text.tokenizer.tokens[size_t(id)];
        return shown;
    };
    Rng rng(options.seed, "examples");
    for (int i = 0; i < examples; ++i) {
        std::vector<std::vector<int>> texts = blanked(text.val[rng.below(text.val.size())], rng);
        std::vector<std::string> filled = fill_masks(reader, texts).texts;
        said += "\n" + with_blanks(texts[0]) + " " + with_blanks(texts[1]) + "\n" + filled[0] + " " + filled[1] + "\n";
    }
    found["sample"] = in_short + said;
    tell(found, unseen + said, unseen + said);
}

std::vector<std::vector<int>> PreTraining::blanked(const Sentences::Pair& pair, Rng& rng) const {
    const CharacterTokenizer& t = text.tokenizer;
    PairRow row = join(text.tokens[size_t(pair.first)], text.tokens[size_t(pair.second)], t, options.block_size);
    auto end = std::ranges::find(row.ids, t.sep);
    std::vector<int> first(row.ids.begin() + 1, end), second(end + 1, row.ids.end() - 1);
    for (int& id : second) {
        bool last_chance = &id == &second.back() && !std::ranges::count(second, t.mask);
        if (rng.uniform() < 0.15 || last_chance) id = t.mask;
    }
    return {first, second};
}

}  // namespace babygpt
