#include "common/text/pairs.h"

#include <algorithm>
#include <set>

#include "common/base/error.h"
#include "common/text/corpus.h"
#include "common/text/utf8.h"
#include "data/pairs.h"

namespace babygpt {

namespace {

constexpr size_t built_in_pairs = 20'000;

}  // namespace

std::vector<ParallelCorpus::Pair> parse_pairs(const std::string& name, std::string_view bytes) {
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    std::vector<ParallelCorpus::Pair> pairs;
    for (size_t number = 1; !bytes.empty(); number++) {
        std::string_view line = bytes.substr(0, bytes.find('\n'));
        bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        std::string where = str("line ", number, " of ", name);
        std::u32string text = decode_utf8(line, where, true);
        std::ptrdiff_t tabs = std::count(text.begin(), text.end(), U'\t');
        if (tabs == 0) fail(where, " has no tab; a line is a sentence, a tab and its translation");
        if (tabs > 1) fail(where, " has ", tabs, " tabs; a line is a sentence, one tab and its translation");
        size_t tab = text.find(U'\t');
        pairs.push_back({text.substr(0, tab), text.substr(tab + 1)});
    }
    return pairs;
}

ParallelCorpus make_parallel_corpus(const std::string& name, std::string_view bytes) {
    std::vector<ParallelCorpus::Pair> pairs = parse_pairs(name, bytes);
    if (pairs.empty()) fail(name, " is empty; give some thousand lines, each a sentence, a tab and its translation");
    for (size_t i = 0; i < pairs.size(); i++)
        if (pairs[i].source.empty() || pairs[i].target.empty())
            fail("line ", i + 1, " of ", name, " has nothing ", pairs[i].source.empty() ? "before" : "after",
                 " its tab; a line is a sentence, a tab and its translation");
    if (pairs.size() < 2) fail(name, " has only one pair, none to validate on; give some thousand");
    auto cut = pairs.begin() + std::ptrdiff_t(pairs.size() * 9 / 10);
    ParallelCorpus corpus{name, {pairs.begin(), cut}, {cut, pairs.end()}, hash_of(bytes), false};
    std::set<std::u32string> sources;
    for (const ParallelCorpus::Pair& pair : corpus.train) sources.insert(pair.source);
    corpus.seen = std::erase_if(corpus.val, [&](const auto& pair) { return sources.contains(pair.source); });
    if (corpus.val.empty())
        fail(name, " has no sentence in its last tenth that is not in the rest, too: none to validate on");
    return corpus;
}

ParallelCorpus load_pairs(const std::string& data) {
    if (data != "pairs") return make_parallel_corpus(data, read_text(data));
    ParallelCorpus corpus = make_parallel_corpus(data, to_lines(pairs(built_in_seed, built_in_pairs)));
    corpus.built_in = true;
    return corpus;
}

}  // namespace babygpt
