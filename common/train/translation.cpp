#include "common/train/translation.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/format.h"
#include "common/base/thread_pool.h"
#include "common/text/baselines.h"
#include "common/text/batches.h"
#include "common/text/utf8.h"
#include "common/train/ranks.h"
#include "common/write/translator.h"

namespace babygpt {

namespace {

constexpr size_t glance = 5, judged = 15;  // sentences for each of eval_batches: at each evaluation, and at the end
constexpr size_t side_by_side = 25;        // of them at once

std::u32string all_text(const ParallelCorpus& text) {
    std::u32string all;
    for (const auto* part : {&text.train, &text.val})
        for (const ParallelCorpus::Pair& pair : *part) all += pair.source + pair.target;
    return all;
}

//> batch
class TranslationBatch : public DrawnBatch {
  public:
    TranslationBatch(const CharacterTokenizer& tokenizer, int B)
        : t(tokenizer) {
        for (auto* rows : {&sources, &inputs, &labels}) rows->reserve(size_t(B));
    }

    void add(const std::vector<int>& source, const std::vector<int>& target) {
        sources.push_back(source);  // [CLS] source [SEP]
        inputs.push_back(target);   // [CLS] target
        inputs.back().insert(inputs.back().begin(), t.cls);
        labels.push_back(target);  // target [SEP]: what comes next at each place
        labels.back().push_back(t.sep);
        read += source.size(), written += target.size() + 1;
    }

    int rows() const override { return int(sources.size()); }
    size_t tokens() const override { return read + written; }
    Tensor loss(const Module& model, int first, int last) const override {
        auto padded = [&](const std::vector<std::vector<int>>& rows, int pad) {
            return pad_rows(std::span(rows).subspan(size_t(first), size_t(last - first)), pad);
        };
        PaddedRows source = padded(sources, t.pad), input = padded(inputs, t.pad);
        Mask seen = padding(source.lengths, source.ids.T), own = padding(input.lengths, input.ids.T);
        const auto& translator = static_cast<const EncoderDecoder&>(model);
        Tensor states = translator.encode({.input_ids = source.ids, .attention_mask = seen});  // (B, S, C)
        Tensor logits = translator.decode({.input_ids = input.ids,
                                           .attention_mask = own,
                                           .encoder_hidden_states = states,
                                           .encoder_attention_mask = seen});  // (B, T, V)
        return cross_entropy(std::move(logits), padded(labels, ignore_index).ids, written);
    }

  private:
    const CharacterTokenizer& t;
    std::vector<std::vector<int>> sources, inputs, labels;
    size_t read = 0, written = 0;
};
//< batch

}  // namespace

Translation::Translation(const Options& o, const ParallelCorpus& c, MakeTranslator m)
    : tokenizer(Vocabulary(all_text(c))),
      options(o),
      text(c),
      make(std::move(m)),
      train(encode(c.train)),
      val(encode(c.val)) {
    size_t longest = 0;
    const std::u32string* which = nullptr;
    auto look_at = [&](const std::u32string& sentence, size_t tokens) {
        if (tokens > longest) longest = tokens, which = &sentence;
    };
    for (const auto* part : {&text.train, &text.val})
        for (const ParallelCorpus::Pair& pair : *part)
            look_at(pair.source, pair.source.size() + 2), look_at(pair.target, pair.target.size() + 1);
    if (longest > size_t(o.block_size))
        fail(text.name, " has a sentence of ", longest, " tokens, with [CLS] and [SEP], and --block-size is ",
             o.block_size, "; --block-size ", longest, " is enough for all. It begins \"", brief(encode_utf8(*which)),
             "\"");
    auto written = [&](const std::vector<Pair>& pairs) {
        std::vector<int> ids;
        for (const Pair& pair : pairs) {
            ids.insert(ids.end(), pair.target.begin(), pair.target.end());
            ids.push_back(tokenizer.sep);
        }
        return ids;
    };
    const int V = tokenizer.characters.size() + 1;  // what can come next: a character, or the end
    uniform = std::log(double(V)), unigram = Unigram(written(train), V).loss(written(val));
}

std::vector<Translation::Pair> Translation::encode(const std::vector<ParallelCorpus::Pair>& pairs) const {
    std::u32string all;
    for (const ParallelCorpus::Pair& pair : pairs) all += pair.source + pair.target;
    std::vector<int> ids = tokenizer.encode(all, "text");
    std::vector<Pair> encoded;
    auto next = ids.begin();
    auto take = [&](size_t n) {
        auto first = next;
        return std::vector<int>(first, next += std::ptrdiff_t(n));
    };
    for (const ParallelCorpus::Pair& pair : pairs) {
        std::vector<int> source = take(pair.source.size());
        source.insert(source.begin(), tokenizer.cls), source.push_back(tokenizer.sep);
        encoded.push_back({source, take(pair.target.size())});
    }
    return encoded;
}

std::shared_ptr<Module> Translation::make_model(Rng& initialisation) const {
    return make(bert_config(options, tokenizer.size()), initialisation);
}

std::unique_ptr<DrawnBatch> Translation::draw(Part part, Rng& rng) const {
    const std::vector<Pair>& pairs = part == Part::train ? train : val;
    std::vector<Pair> drawn;
    for (int i = 0; i < options.batch_size; ++i) drawn.push_back(pairs[rng.below(pairs.size())]);
    return batch_of(drawn);
}

std::unique_ptr<DrawnBatch> Translation::batch_of(const std::vector<Pair>& pairs) const {
    auto batch = std::make_unique<TranslationBatch>(tokenizer, int(pairs.size()));
    for (const Pair& pair : pairs) batch->add(pair.source, pair.target);
    return batch;
}

Checkpoint Translation::describe(const Module& model, int step, Losses losses) const {
    Corpus corpus{text.name, tokenizer.characters, {}, {}, {}, nullptr, text.hash};
    Checkpoint checkpoint = describe_model(options, corpus, model, step, losses.train, losses.val);
    checkpoint.metadata["format"] = "pt";  // Hugging Face opens no file that does not say so
    return checkpoint;
}

std::string Translation::introduce() const {
    return "text    " + text.name + ": " + with_commas(double(train.size() + val.size() + text.seen)) +
           str(" sentences with their translations, ", tokenizer.characters.size(),
               " different characters; the last tenth is for validation",
               text.seen ? str(", without ", text.seen, " that the rest has, too") : "", "\n") +
           format("ruler   knowing nothing %.3f, unigram %.3f%s nats per written character\n", uniform, unigram,
                  text.built_in ? ", floor 0" : "");
}

std::string Translation::in_words(double loss) const { return format("%.4f nats per written character", loss); }

std::vector<std::string> Translation::translations(const Module& model, size_t count) const {
    count = std::min(count, text.val.size());
    Translator translator{static_cast<const EncoderDecoder&>(model), tokenizer, options.block_size};
    std::vector<std::string> results(count);
    std::vector<size_t> mine;
    for (size_t i = size_t(ranks::rank()); i < count; i += size_t(ranks::count())) mine.push_back(i);
    ThreadPool pool(thread_count(options));
    pool.run([&](int worker) {
        for (size_t first = size_t(worker) * side_by_side; first < mine.size();
             first += size_t(pool.size()) * side_by_side) {
            std::span<const size_t> some(mine.begin() + std::ptrdiff_t(first),
                                         std::min(side_by_side, mine.size() - first));
            std::vector<std::string> sources;
            for (size_t i : some) sources.push_back(encode_utf8(text.val[i].source));
            std::vector<std::string> translated = translate(translator, sources);
            for (size_t i = 0; i < some.size(); ++i) results[some[i]] = translated[i];
        }
    });
    ranks::all_gather(results);
    return results;
}

size_t Translation::count_exact(const std::vector<std::string>& translations) const {
    size_t exact = 0;
    for (size_t i = 0; i < translations.size(); ++i) exact += translations[i] == encode_utf8(text.val[i].target);
    return exact;
}

std::string Translation::remark(double, const Module* model) const {
    if (!model) return "";
    std::vector<std::string> some = translations(*model, glance * size_t(options.eval_batches));
    return format("%zu of %zu unseen sentences exact", count_exact(some), some.size());
}

void Translation::show(const Module& model, const Tell& tell) const {
    std::vector<std::string> results = translations(model, judged * size_t(options.eval_batches));
    size_t exact = count_exact(results);
    std::string written, sample;
    for (size_t i = 0; i < std::min<size_t>(10, results.size()); ++i) {
        std::string right = encode_utf8(text.val[i].target);
        written += results[i] + "\n";
        sample += encode_utf8(text.val[i].source) + "\n    " + results[i] + "\n";
        if (results[i] != right) sample += "    it should be: " + right + "\n";
    }
    nlohmann::json found = {{"vocab_size", tokenizer.tokens.size()},
                            {"baselines", {{"uniform", uniform}, {"unigram", unigram}}},
                            {"sample", written},
                            {"final", {{"exact", double(exact) / double(results.size())}}},
                            {"judged", {{"sentences", results.size()}, {"exact", exact}}}};
    if (text.built_in) found["baselines"]["floor"] = 0;  // the source decides the target
    tell(found, sample,
         sample + format("\nexact   %zu of %zu unseen sentences, to the letter\n", exact, results.size()));
}

}  // namespace babygpt
