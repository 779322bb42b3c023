// Lesson 00: counting with more than one character before: the loss on the text that was counted and on the text that
// was not, and how many different beginnings came up.
#include <cmath>
#include <cstdio>
#include <string>
#include <unordered_map>

#include "common/babygpt.h"
using namespace babygpt;

int main() {
    Corpus corpus = load_corpus("tales");
    size_t V = size_t(corpus.vocabulary.size());
    std::vector<double> frequency(V, 1);
    for (int token : corpus.train) ++frequency[size_t(token)];
    for (double& f : frequency) f /= double(corpus.train.size() + V);
    std::printf("before       rows   train     val\n");
    for (size_t before : {1, 2, 3, 4, 6, 8, 12, 16, 24}) {
        struct Row {
            double total = 0;
            std::unordered_map<int, double> followers;
        };
        std::unordered_map<std::string, Row> rows;
        auto key = [&](const std::vector<int>& text, size_t i) {
            std::string characters;
            for (size_t j = i - before; j < i; ++j) characters += char(text[j]);
            return characters;
        };
        for (size_t i = before; i < corpus.train.size(); ++i) {
            Row& row = rows[key(corpus.train, i)];
            ++row.total, ++row.followers[corpus.train[i]];
        }
        // As in stage 00: one more follower is pretended, spread by frequency.
        auto loss = [&](const std::vector<int>& text) {
            double sum = 0;
            for (size_t i = before; i < text.size(); ++i) {
                auto row = rows.find(key(text, i));
                double count = 0, total = 0;
                if (row != rows.end()) {
                    auto seen = row->second.followers.find(text[i]);
                    count = seen == row->second.followers.end() ? 0 : seen->second, total = row->second.total;
                }
                sum -= std::log((count + frequency[size_t(text[i])]) / (total + 1));
            }
            return sum / double(text.size() - before);
        };
        std::printf("%-6zu %10zu  %6.3f  %6.3f\n", before, rows.size(), loss(corpus.train), loss(corpus.val));
    }
}
