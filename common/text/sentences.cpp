#include "common/text/sentences.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/text/corpus.h"
#include "common/text/utf8.h"

namespace babygpt {

namespace {

// Four times what Part I reads: a model of pairs soon knows by heart which sentences of a smaller text stood together.
constexpr size_t tales_bytes = 4'000'000;
constexpr size_t fewest_pairs = 20;  // so that two of them are for validation

bool related(const Sentence& a, const Sentence& b) {
    int shared = 0;
    for (std::string_view kind : paired_kinds) {
        auto has = [kind](const Span& span) { return span.kind == kind; };
        shared += std::ranges::any_of(a.spans, has) && std::ranges::any_of(b.spans, has);
    }
    return shared >= 3;
}

// The first 90 % of the pairs are to learn from, the others to see what was learnt; no document is cut in two.
void share_out(const std::vector<Sentences::Pair>& pairs, Sentences& text) {
    size_t cut = pairs.size() * 9 / 10;
    while (cut && pairs[cut].document == pairs[cut - 1].document) --cut;
    text.train.assign(pairs.begin(), pairs.begin() + std::ptrdiff_t(cut));
    text.val.assign(pairs.begin() + std::ptrdiff_t(cut), pairs.end());
    text.val_begins = text.val[0].first;
    // Of a file the line at the cut is also the second of the pair before it.
    if (!text.train.empty() && text.train.back().second == text.val_begins) text.train.pop_back();
}

Sentences sentences_of_tales() {
    std::vector<Document> documents = tales().documents(built_in_seed, tales_bytes);
    std::string whole;
    for (const Document& document : documents)
        for (const Sentence& sentence : document) whole += sentence.text;
    Sentences text{"tales",       CharacterTokenizer(Vocabulary(decode_utf8(whole, "tales"))), {}, {}, 0, {}, {},
                   hash_of(whole)};
    std::vector<Sentences::Pair> pairs;
    int number = 0;
    for (const Document& document : documents) {
        int first = int(text.tokens.size());
        for (const Sentence& sentence : document) {
            text.tokens.push_back(text.tokenizer.encode(sentence.text, "text"));
            text.spans.push_back(sentence.spans);
        }
        for (int a = 0; a < int(document.size()); ++a)
            for (int b = a + 1; b < int(document.size()); ++b)
                if (related(document[size_t(a)], document[size_t(b)]))
                    pairs.push_back({first + a, first + b, number, b});
        ++number;
    }
    share_out(pairs, text);
    return text;
}

Sentences lines_of(const std::string& data) {
    std::string bytes = read_text(data);
    std::u32string characters = decode_utf8(bytes, data);
    std::erase(characters, U'\r');
    std::u32string in_one = characters;
    std::erase(in_one, U'\n');
    Sentences text{data, CharacterTokenizer(Vocabulary(in_one)), {}, {}, 0, {}, {}, hash_of(bytes)};
    std::vector<int> tokens = text.tokenizer.encode(in_one, data);
    std::vector<Sentences::Pair> pairs;
    auto next = tokens.begin();
    bool after_empty = true;
    for (size_t from = 0, end; from < characters.size(); from = end + 1) {
        end = std::min(characters.find(U'\n', from), characters.size());
        auto length = std::ptrdiff_t(end - from);
        if (length) {
            int number = int(text.tokens.size());
            if (!after_empty) pairs.push_back({number - 1, number, int(pairs.size()), 0});
            text.tokens.emplace_back(next, next + length);
            next += length;
        }
        after_empty = length == 0;
    }
    if (pairs.size() < fewest_pairs)
        fail(data, " has only ", pairs.size(),
             " lines that follow another one; a sentence is a line here, and an empty line ends a text, so give ",
             fewest_pairs, " or more, one below the other");
    share_out(pairs, text);
    return text;
}

}  // namespace

Sentences load_sentences(const std::string& data) { return data == "tales" ? sentences_of_tales() : lines_of(data); }

}  // namespace babygpt
