// Lesson 00: the table of pairs as a map, P(next character | this one), for the small letters and the space.
#include <cstdio>

#include "common/babygpt.h"
#include "common/text/utf8.h"
#define main stage_main
#include "stages/00_counts.cpp"
#undef main

int main() {
    Corpus corpus = load_corpus("tales");
    Counts counts(corpus.train, corpus.vocabulary.size());
    std::u32string letters = U" abcdefghiklmnoprstuwy.";
    auto token = [&](char32_t c) { return corpus.vocabulary.encode({&c, 1}, "letters")[0]; };
    auto name = [](char32_t c) { return c == U' ' ? std::string("_") : encode_utf8({&c, 1}); };
    std::printf("# how often the column's character follows the row's\n");
    for (char32_t b : letters) std::printf("\t%s", name(b).c_str());
    for (char32_t a : letters) {
        std::printf("\n%s", name(a).c_str());
        for (char32_t b : letters) std::printf("\t%.3f", counts.probability(token(a), token(b)));
    }
    std::printf("\n");
}
