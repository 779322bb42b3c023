#include "common/text/baselines.h"

#include <cmath>
#include <unordered_map>

#include "common/base/format.h"

namespace babygpt {

Unigram::Unigram(std::span<const int> text, int V)
    : total(double(text.size()) + V) {
    for (int token : text) {
        if (size_t(token) >= seen.size()) seen.resize(size_t(token) + 1);
        ++seen[size_t(token)];
    }
}

double Unigram::probability(int token) const {
    return ((size_t(token) < seen.size() ? seen[size_t(token)] : 0) + 1) / total;
}

double Unigram::loss(std::span<const int> tokens) const {
    double nats = 0;
    for (int token : tokens) nats -= std::log(probability(token));
    return nats / double(tokens.size());
}

Baselines measure_baselines(const Corpus& corpus) {
    size_t V = size_t(corpus.vocabulary.size());
    const Unigram single(corpus.train, int(V));
    std::vector<double> before(V, 1);  // as if each had been seen once
    std::unordered_map<uint64_t, double> pairs;
    auto pair = [V](int a, int b) { return uint64_t(a) * V + uint64_t(b); };
    for (size_t i = 1; i < corpus.train.size(); ++i) {
        ++before[size_t(corpus.train[i - 1])];
        ++pairs[pair(corpus.train[i - 1], corpus.train[i])];
    }
    Baselines baselines{std::log(double(V)), 0, 0, corpus.floor};
    for (size_t i = 1; i < corpus.val.size(); ++i) {
        int a = corpus.val[i - 1], b = corpus.val[i];
        double alone = single.probability(b);
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
