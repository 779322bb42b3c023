// Stage 00: count which character follows which, and write by the counts. No gradients yet.
#include <cmath>
#include <map>

#include "common/babygpt.h"
using namespace babygpt;

//> counts
struct Counts {
    std::vector<std::map<int, double>> followers;  // followers[a][b]: how often b came right after a
    std::vector<double> frequency;                 // how often each character comes at all, out of 1
    std::vector<double> total;                     // how often something came after a

    Counts(const std::vector<int>& tokens, int vocab_size)
        : followers(size_t(vocab_size)),
          frequency(size_t(vocab_size)),
          total(size_t(vocab_size)) {
        for (size_t i = 0; i < tokens.size(); ++i) {
            ++frequency[size_t(tokens[i])];
            if (i == 0) continue;
            ++followers[size_t(tokens[i - 1])][tokens[i]];
            ++total[size_t(tokens[i - 1])];
        }
        // Pretend to have seen each character once more: nothing is impossible.
        for (double& f : frequency) f = (f + 1) / double(tokens.size() + frequency.size());
    }

    // How likely b is after a. One more follower of a is pretended, spread over all characters by their frequency: a
    // pair never seen is improbable but possible, and a character that nothing ever followed still has a next one.
    double probability(int a, int b) const {
        auto seen = followers[size_t(a)].find(b);
        double count = seen == followers[size_t(a)].end() ? 0 : seen->second;
        return (count + frequency[size_t(b)]) / (total[size_t(a)] + 1);
    }
};
//< counts

//> loss
// The mean surprise: -log(probability) of each character, given the one before.
double loss(const Counts& counts, const std::vector<int>& tokens) {
    double sum = 0;
    for (size_t i = 1; i < tokens.size(); ++i) sum -= std::log(counts.probability(tokens[i - 1], tokens[i]));
    return sum / double(tokens.size() - 1);
}
//< loss

int main(int argc, char** argv) {
    Options o{.stage = "00_counts", .batch_size = 0, .block_size = 0, .steps = 0};
    return guarded(o.stage, [&] {
        Command command = parse_options(argc, argv, o);
        Corpus corpus = load_corpus(o.data);
        check_fit(o, corpus);
        Counts counts(corpus.train, corpus.vocabulary.size());
        NextLogits next = [&](std::span<const int> context) {
            std::vector<real> logits;
            for (int b = 0; b < corpus.vocabulary.size(); ++b)
                logits.push_back(real(std::log(counts.probability(context.back(), b))));
            return logits;
        };
        if (command == Command::sample) return write_sample(next, corpus.vocabulary, o, corpus.train);

        size_t pairs = 0;
        for (const auto& row : counts.followers) pairs += row.size();
        Run run(o, corpus, pairs);
        run.record(0, {loss(counts, corpus.train), loss(counts, corpus.val)});
        run.finish(next);
    });
}
