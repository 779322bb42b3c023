#include "common/train/language.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/format.h"
#include "common/train/evaluate.h"
#include "common/train/ranks.h"

namespace babygpt {

namespace {

std::unique_ptr<DrawnBatch> draw_text(const Corpus& corpus, const Options& o, Part part, Rng& rng) {
    const std::vector<int>& tokens = part == Part::train ? corpus.train : corpus.val;
    return std::make_unique<TextBatch>(random_batch(tokens, o.batch_size, o.block_size, rng));
}

}  // namespace

Tensor TextBatch::loss(const Module& model, int first, int last) const {
    int T = batch.x.T;
    auto cut = [&](const std::vector<int>& ids) {
        return Tokens(last - first, T,
                      {ids.begin() + std::ptrdiff_t(first) * T, ids.begin() + std::ptrdiff_t(last) * T});
    };
    Tensor logits = static_cast<const LanguageModel&>(model)(cut(batch.x.ids));
    return cross_entropy(std::move(logits), cut(batch.y.ids), tokens());
}

LanguageModelling::LanguageModelling(const Options& o, const Corpus& c, MakeModel m, MakeWriter w)
    : baselines(measure_baselines(c)),
      options(o),
      corpus(c),
      make(std::move(m)),
      make_writer(std::move(w)) {}

std::shared_ptr<Module> LanguageModelling::make_model(Rng& initialisation) const {
    return make(options, corpus.vocabulary.size(), initialisation);
}

std::unique_ptr<DrawnBatch> LanguageModelling::draw(Part part, Rng& rng) const {
    return draw_text(corpus, options, part, rng);
}

Checkpoint LanguageModelling::describe(const Module& model, int step, Losses losses) const {
    return describe_model(options, corpus, model, step, losses.train, losses.val);
}

std::string LanguageModelling::introduce() const {
    prompt_tokens(corpus.vocabulary, options);  // fails now, not after hours of training
    return "text    " + corpus.name + ": " + with_commas(double(corpus.train.size() + corpus.val.size())) +
           str(" characters, ", corpus.vocabulary.size(), " different; the last tenth is for validation\n") +
           format("ruler   knowing nothing %.3f, unigram %.3f, bigram %.3f%s nats per character\n", baselines.uniform,
                  baselines.unigram, baselines.bigram,
                  baselines.floor ? format(", floor %.3f", *baselines.floor).c_str() : "");
}

std::string LanguageModelling::in_words(double loss) const {
    return format("%.4f nats per character = %.3f bits; ", loss, loss / std::log(2.0)) + baselines.describe(loss);
}

void LanguageModelling::show(const Module& model, const Tell& tell) const {
    show(make_writer(static_cast<const LanguageModel&>(model), options.block_size), tell);
}

void LanguageModelling::show(const NextLogits& next, const Tell& tell) const {
    std::string sample = options.prompt + write_text(next, corpus.vocabulary, options);
    nlohmann::json found = {
        {"vocab_size", corpus.vocabulary.size()},
        {"baselines", {{"uniform", baselines.uniform}, {"unigram", baselines.unigram}, {"bigram", baselines.bigram}}},
        {"sample", sample}};
    if (baselines.floor) found["baselines"]["floor"] = *baselines.floor;
    tell(found, sample + "\n", sample + "\n");
    if (!corpus.judge) return;
    constexpr int judged = 40;
    std::vector<std::string> list = list_tales(next, corpus.vocabulary, options, judged, ranks::rank(), ranks::count());
    ranks::all_gather(list);
    std::string tales;
    for (const std::string& tale : list) tales += tale;
    Score score = corpus.judge->judge(tales);
    std::string said =
        format("\njudged  %zu of %zu %s follow the grammar", score.in_form, score.tales, corpus.name.c_str());
    if (score.slots) said += format("; %zu of their %zu memory slots are right", score.slots_right, score.slots);
    found = {{"judged",
              {{"tales", score.tales},
               {"in_form", score.in_form},
               {"all_right", score.all_right},
               {"slots", score.slots},
               {"slots_right", score.slots_right}}}};
    tell(found, sample + "\n\n" + tales + "\n", said + "\n");
}

void Run::finish(const NextLogits& next) {
    conclude([&](const Tell& tell) { LanguageModelling::show(next, tell); });
}

Losses evaluate(const LanguageModel& model, const Corpus& corpus, const Options& options) {
    auto draw = [&](Part part, Rng& rng) { return draw_text(corpus, options, part, rng); };
    return evaluate(draw, model, options);
}

void check_fit(const Options& o, const Corpus& corpus) {
    if (corpus.val.size() <= size_t(o.block_size))
        fail(corpus.name, " is too short: its validation part (the last tenth) has ", corpus.val.size(),
             " characters, and a block of --block-size ", o.block_size, " needs ", o.block_size + 1,
             "; give more text or a smaller block");
}

}  // namespace babygpt
