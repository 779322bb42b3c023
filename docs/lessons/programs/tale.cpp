// Lesson 00: the first tale of the corpus, a sentence a line, as a picture; what is said again has the same colour.
// Lesson 10: in how many of all tales the name of the last sentence was last said more than 128 characters before.
#include <cstdio>

#include "common/babygpt.h"
#include "common/draw/svg.h"
using namespace babygpt;

struct Kind {
    std::string name, meaning;
    size_t times = 0, last = 0, farthest = 0;  // counted in characters of the tale

    std::string colour() const { return palette[fixed_colour(name)]; }
};

bool beyond_128(const Document& tale) {
    size_t start = 0, last = 0, before = 0;
    for (const Sentence& sentence : tale) {
        for (const Span& span : sentence.spans)
            if (span.kind == "name") before = last, last = start + span.first;
        start += sentence.text.size() + 1;
    }
    return last - before > 128;
}

int main() {
    std::vector<Kind> kinds{{"name", "the name"},
                            {"pronoun", "he or she, as the name says"},
                            {"thing", "the thing"},
                            {"place", "the place"},
                            {"box", "the box"},
                            {"sound", "the sound"},
                            {"sum", "the sum of the two numbers"}};
    std::string svg;
    double y = 0;
    size_t start = 0;
    const Document tale = tales().documents(built_in_seed, 1).front();
    for (const Sentence& sentence : tale) {
        svg += format("<text x=\"10\" y=\"%g\" font-family=\"monospace\" font-size=\"16\">", y += 26);
        size_t at = 0;
        for (const Span& span : sentence.spans) {
            Kind& kind = *std::ranges::find(kinds, span.kind, &Kind::name);
            svg += escaped(sentence.text.substr(at, span.first - at));
            svg += "<tspan font-weight=\"bold\" fill=\"" + kind.colour() +
                   (span.returns ? "\">" : "\" text-decoration=\"underline\">") +
                   escaped(sentence.text.substr(span.first, span.length)) + "</tspan>";
            at = span.first + span.length;
            if (kind.times++) kind.farthest = std::max(kind.farthest, start + span.first - kind.last);
            kind.last = start + span.first;
        }
        svg += escaped(sentence.text.substr(at)) + "</text>\n";
        start += sentence.text.size() + 1;
    }
    std::printf("kind     times  farthest\n");
    y = 22;
    for (const Kind& kind : kinds) {
        std::printf("%-8s %5zu %9zu\n", kind.name.c_str(), kind.times, kind.farthest);
        std::string later = kind.farthest ? format(": again, up to %zu characters later", kind.farthest) : "";
        svg += "<g fill=\"" + kind.colour() + "\">" + label(560, y, "start", kind.meaning + later) + "</g>\n", y += 22;
    }
    const std::vector<Document> all = tales().documents(built_in_seed, 1'000'000);
    std::printf("beyond   %zu/%zu\n", size_t(std::ranges::count_if(all, beyond_128)), all.size());
    std::printf("\n%s", picture(900, y, "A tale", svg).c_str());
}
