// Lesson 00: which character `pick` takes after an a, under six settings. Prints a table of what 100,000 throws gave
// each of the likeliest, beside what was counted, and a picture of it.
#include <algorithm>
#include <cstdio>

#include "common/babygpt.h"
#include "common/draw/svg.h"
#define main stage_main
#include "stages/00_counts.cpp"
#undef main

struct Setting {
    std::string name;
    Options options;
    std::vector<double> share = {};  // of the throws, by token
};

int main() {
    Corpus corpus = load_corpus("tales");
    Counts counts(corpus.train, corpus.vocabulary.size());
    int a = corpus.vocabulary.encode(U"a", "text")[0], V = corpus.vocabulary.size();
    std::vector<int> order;
    std::vector<real> logits;
    for (int b = 0; b < V; ++b) order.push_back(b), logits.push_back(real(std::log(counts.probability(a, b))));
    std::ranges::sort(order, [&](int b, int c) { return logits[size_t(b)] > logits[size_t(c)]; });
    order.resize(14);  // as many as are shown
    auto name = [&](int token) {
        std::string character = corpus.vocabulary.decode({&token, 1});
        return character == " " ? "_" : character;
    };

    std::vector<Setting> settings{{"all off", {.temperature = 1, .top_k = 0, .top_p = 1}},
                                  {"temperature 0.5", {.temperature = 0.5, .top_k = 0, .top_p = 1}},
                                  {"temperature 2", {.temperature = 2, .top_k = 0, .top_p = 1}},
                                  {"top-k 4", {.temperature = 1, .top_k = 4, .top_p = 1}},
                                  {"top-p 0.8", {.temperature = 1, .top_k = 0, .top_p = 0.8}},
                                  {"the defaults", {}}};
    std::printf("%-5s %8s", "next", "counted");
    for (Setting& s : settings) {
        std::printf(" %16s", s.name.c_str());
        s.share.resize(size_t(V));
        Rng rng(1, "dice");
        for (int i = 0; i < 100000; ++i) s.share[size_t(pick(logits, s.options, rng))] += 1e-5;
    }
    for (int b : order) {
        std::printf("\n%-5s %8.3f", name(b).c_str(), counts.probability(a, b));
        for (const Setting& s : settings) std::printf(" %16.3f", s.share[size_t(b)]);
    }
    const Options defaults;
    std::printf("\ndefaults %g %d %g\n\n", defaults.temperature, defaults.top_k, defaults.top_p);

    const double left = 20, wide = 145, line = 22;
    std::string svg;
    for (size_t i = 0; i < settings.size(); ++i) {
        double x = left + wide * double(i), y = 14;
        svg += label(x, y, "start", settings[i].name);
        for (int b : order) {
            y += line;
            double share = settings[i].share[size_t(b)];
            svg += label(x - 8, y + 4, "middle", name(b));
            svg += format("<path d=\"M%.1f %.1fh%.1f\" stroke=\"#2f7fdf\" stroke-width=\"14\"/>\n", x, y, 240 * share);
            if (share > 0) svg += label(x + 240 * share + 4, y + 4, "start", format("%.3f", share));
        }
    }
    std::printf("%s", picture(900, 30 + line * double(order.size()), "One character under six settings", svg).c_str());
}
