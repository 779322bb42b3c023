#include "common/text/baselines.h"

#include <cmath>
#include <unordered_map>

#include "common/base/format.h"

namespace babygpt {

Baselines measure_baselines(const Corpus& corpus) {
    size_t V = size_t(corpus.vocabulary.size());
    std::vector<double> single(V, 1), before(V, 1);  // as if each had been seen once
    std::unordered_map<uint64_t, double> pairs;
    auto pair = [V](int a, int b) { return uint64_t(a) * V + uint64_t(b); };
    for (size_t i = 0; i < corpus.train.size(); ++i) {
        ++single[size_t(corpus.train[i])];
        if (i == 0) continue;
        ++before[size_t(corpus.train[i - 1])];
        ++pairs[pair(corpus.train[i - 1], corpus.train[i])];
    }
    Baselines baselines{std::log(double(V)), 0, 0, corpus.floor};
    double total = double(corpus.train.size() + V);
    for (size_t i = 1; i < corpus.val.size(); ++i) {
        int a = corpus.val[i - 1], b = corpus.val[i];
        double alone = single[size_t(b)] / total;
        auto seen = pairs.find(pair(a, b));
        // What is pretended to have followed a is spread like single characters: no pair is impossible.
        double after = ((seen == pairs.end() ? 0 : seen->second) + alone) / before[size_t(a)];
        baselines.unigram -= std::log(alone) / double(corpus.val.size() - 1);
        baselines.bigram -= std::log(after) / double(corpus.val.size() - 1);
    }
    return baselines;
}

std::string Baselines::describe(double loss) const {
    const char* place = loss >= uniform   ? "no better than knowing nothing"
                        : loss >= unigram ? "below knowing nothing"
                        : loss >= bigram  ? "below the unigram line"
                                          : "below the bigram line";
    if (!floor) return place;
    if (loss < *floor - 0.02) return format("%.2f below the floor: it sees what it should guess", *floor - loss);
    return format("%s, %.2f above the floor", place, loss - *floor);
}

}  // namespace babygpt
