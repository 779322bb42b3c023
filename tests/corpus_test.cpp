// The built-in corpora: what the grammars write, the entropy they claim, and what their judge says.
#include <map>
#include <set>

#include "common/text/corpus.h"
#include "common/text/utf8.h"
#include "data/grammar.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

std::vector<std::string> split(std::string_view text) {  // whole tales only
    std::vector<std::string> tales;
    for (size_t end; (end = text.find("\n\n")) != text.npos; text.remove_prefix(end + 2))
        tales.emplace_back(text.substr(0, end));
    return tales;
}

Score judge(const std::string& tale) { return tales().judge(tale + "\n\n"); }

// A small grammar whose numbers can be worked out by hand.
const char* const greetings = R"(
# Two greetings, one three times as frequent.
greeting = 3 Hi, <friend!>! Bye, <friend?>! | Good <time>.
friend = Ada | Bo
time = day | night | 2 eve
)";

}  // namespace

TEST_SUITE("corpus") {
    TEST_CASE("grammar: the entropy by hand") {
        // First 3/4 to 1/4, then one of two friends or one of three times.
        double first = 0.75 * std::log(4.0 / 3) + 0.25 * std::log(4), time = 0.5 * std::log(4) + 0.5 * std::log(2);
        double nats = first + 0.75 * std::log(2) + 0.25 * time;
        // "Hi, ! Bye, !" and the friend twice; "Good ." and the time; two line breaks.
        double characters = 0.75 * (12 + 2 * 2.5) + 0.25 * (6 + (3 + 5 + 2 * 3) / 4.0) + 2;
        CHECK(Grammar(greetings).entropy_per_char() == doctest::Approx(nats / characters));
    }

    TEST_CASE("grammar: the probability of a tale by hand, and none of what it cannot write") {
        Grammar grammar(greetings);
        CHECK(*grammar.tale_nats("Hi, Bo! Bye, Bo!") == doctest::Approx(-std::log(0.75 * 0.5)));
        CHECK(*grammar.tale_nats("Good eve.") == doctest::Approx(-std::log(0.25 * 0.5)));
        CHECK(*grammar.tale_nats("Good night.") == doctest::Approx(-std::log(0.25 * 0.25)));
        for (const char* wrong : {"Hi, Bo! Bye, Ada!", "Good morning.", "", "Good day", "Good day. ", "good day."})
            CHECK_FALSE(grammar.tale_nats(wrong).has_value());
    }

    TEST_CASE("grammar: the judge by hand: form, memory, and a last piece that was cut off") {
        Score score =
            Grammar(greetings).judge("Hi, Bo! Bye, Bo!\n\nHi, Bo! Bye, Ada!\n\nGood day.\n\nHi!\n\n\n\nGood da");
        CHECK(score.tales == 5);
        CHECK(score.in_form == 3);
        CHECK(score.all_right == 2);
        CHECK(score.slots == 2);
        CHECK(score.slots_right == 1);
        REQUIRE(score.kinds.size() == 1);
        CHECK(score.kinds[0].kind == "friend");
        CHECK(Grammar(greetings).judge("").tales == 0);
    }

    TEST_CASE("grammar: what it writes has the probabilities it names") {
        Grammar grammar(greetings);
        std::vector<std::string> written = split(grammar.write(1, 200'000).text);
        double n = double(written.size()), share = double(std::ranges::count(written, "Good eve.")) / n;
        CHECK(std::abs(share - 0.125) < 4 * std::sqrt(0.125 * 0.875 / n));
    }

    TEST_CASE("grammar: a use of a rule that is not below is refused") {
        CHECK_THROWS_AS(Grammar("a = <b>\n"), std::invalid_argument);
        CHECK_THROWS_AS(Grammar("a = x\nb = <a>\n"), std::invalid_argument);
        CHECK_THROWS_AS(Grammar("a = <a>\n"), std::invalid_argument);
    }

    TEST_CASE("spans: where values are remembered and where they return, in a small text") {
        Grammar grammar("verse = <flower!>\u3002<flower?><season?>\nflower = \u6885<season!\u51AC>\nseason = \u51AC\n");
        Generated text = grammar.write(1, 1);
        REQUIRE(decode_utf8(text.text, "text") == U"\u6885\u3002\u6885\u51AC\n\n");
        REQUIRE(text.spans.size() == 3);
        auto check = [](const Span& span, const char* kind, size_t first, bool returns) {
            CHECK(span.kind == kind);
            CHECK(span.first == first);
            CHECK(span.length == 1);
            CHECK(span.returns == returns);
        };
        check(text.spans[0], "flower", 0, false);
        check(text.spans[1], "flower", 2, true);
        check(text.spans[2], "season", 3, true);
    }

    TEST_CASE("spans: as many return as the judge counts slots, and each holds what was remembered") {
        for (const Grammar* grammar : {&tales(), &verses()}) {
            Generated written = grammar->write(8, 100'000);
            std::u32string text = decode_utf8(written.text, "text");
            std::map<std::string, std::u32string> memory;
            std::map<std::string, size_t> slots;
            size_t end = 0;
            for (const Span& span : written.spans) {
                REQUIRE(span.first >= end);  // in order, and none in another
                end = span.first + span.length;
                std::u32string value = text.substr(span.first, span.length);
                REQUIRE_FALSE(value.empty());
                if (!span.returns) memory[span.kind] = value;
                if (memory.contains(span.kind)) REQUIRE(memory[span.kind] == value);  // a pronoun is not said before
                slots[span.kind] += span.returns;
            }
            for (const Score::Slots& kind : grammar->judge(written.text).kinds) {
                CAPTURE(kind.kind);
                CHECK(slots[kind.kind] == kind.slots);
                slots.erase(kind.kind);
            }
            for (const auto& [kind, count] : slots) CHECK_MESSAGE(count == 0, kind);
        }
    }

    TEST_CASE("documents: the sentences and their spans, joined, are the text of the same seed") {
        for (const Grammar* grammar : {&tales(), &verses()}) {
            Generated written = grammar->write(9, 100'000);
            std::string text;
            std::vector<Span> spans;
            for (const Document& document : grammar->documents(9, 100'000)) {
                for (const Sentence& sentence : document) {
                    size_t before = decode_utf8(text, "text", true).size();
                    for (Span span : sentence.spans) {
                        span.first += before;
                        spans.push_back(span);
                    }
                    text += sentence.text + (grammar == &tales() ? " " : "\n");
                }
                text.replace(text.size() - 1, 1, "\n\n");
            }
            CHECK(text == written.text);
            CHECK(spans == written.spans);
        }
    }

    TEST_CASE("documents: a tale has six sentences, a verse four lines") {
        for (const Document& tale : tales().documents(10, 50'000)) {
            REQUIRE(tale.size() == 6);
            for (const Sentence& sentence : tale) CHECK((sentence.text.ends_with('.') && sentence.text.size() > 10));
        }
        for (const Document& verse : verses().documents(10, 5'000)) CHECK(verse.size() == 4);
    }

    TEST_CASE("nats_per_char: the information from a character on") {
        Generated text{"abcd", 4, {{0, 1}, {2, 0.5}, {3, 0.25}}, {}};
        CHECK(text.nats_per_char() == doctest::Approx(1.75 / 4));
        CHECK(text.nats_per_char(2) == doctest::Approx(0.75 / 2));
        CHECK(text.nats_per_char(3) == doctest::Approx(0.25));
    }

    TEST_CASE("entropy: what the grammars claim is what a long run costs") {
        for (const Grammar* grammar : {&tales(), &verses()}) {
            Generated text = grammar->write(7, 5'000'000);
            CHECK(text.nats_per_char() == doctest::Approx(grammar->entropy_per_char()).epsilon(0.005));
        }
    }

    TEST_CASE("entropy: the choices of a text cost what its tales do, one by one") {
        for (const Grammar* grammar : {&tales(), &verses()}) {
            Generated text = grammar->write(3, 100'000);
            double nats = 0;
            for (const std::string& tale : split(text.text)) {
                REQUIRE(grammar->tale_nats(tale).has_value());
                nats += *grammar->tale_nats(tale);
            }
            CHECK(nats / double(text.characters) == doctest::Approx(text.nats_per_char()));
            CHECK(text.characters == decode_utf8(text.text, "text").size());
        }
    }

    TEST_CASE("judge: accepts every tale of its own, and every slot") {
        for (const Grammar* grammar : {&tales(), &verses()}) {
            std::string text = grammar->write(2, 1'000'000).text;
            Score score = grammar->judge(text);
            CHECK(score.tales == split(text).size());
            CHECK(score.in_form == score.tales);
            CHECK(score.all_right == score.tales);
            CHECK(score.slots_right == score.slots);
            CHECK(score.slots >= 3 * score.tales);
            size_t slots = 0;
            for (const Score::Slots& kind : score.kinds) {
                CHECK(kind.slots > 0);
                slots += kind.slots;
            }
            CHECK(slots == score.slots);
        }
    }

    TEST_CASE("judge: what is remembered in the tales is at least name, thing, place, box, sound and sum") {
        std::set<std::string> kinds;
        for (const Score::Slots& kind : tales().judge("").kinds) kinds.insert(kind.kind);
        for (const char* kind : {"name", "thing", "place", "box", "sound", "sum"}) CHECK(kinds.contains(kind));
    }

    TEST_CASE("judge: a tale with a letter changed is out of form or forgets something") {
        Rng rng(1, "test");
        size_t accepted = 0, tried = 0;
        for (const std::string& tale : split(tales().write(4, 100'000).text))
            for (int i = 0; i < 5; ++i, ++tried) {
                std::string changed = tale;
                size_t at = rng.below(tale.size());
                changed[at] = '#';
                CHECK(judge(changed).in_form == 0);
                do changed[at] = char('a' + rng.below(26));
                while (changed[at] == tale[at]);
                accepted += judge(changed).all_right;
            }
        CHECK(double(accepted) < 0.01 * double(tried));  // a letter may turn one word into another of its kind
    }

    TEST_CASE("judge: a tale without one of its sentences, or with one twice, is out of form") {
        for (const std::string& tale : split(tales().write(5, 20'000).text)) {
            std::vector<std::string> sentences;
            for (size_t start = 0; start < tale.size();) {  // a sentence ends at a full stop, or where the tale does
                size_t end = std::min(tale.find(". ", start), tale.size() - 2) + 2;
                sentences.push_back(tale.substr(start, end - start));
                start = end;
            }
            REQUIRE(sentences.size() >= 3);
            for (size_t i = 0; i < sentences.size(); ++i) {
                std::string shorter, longer;
                for (size_t j = 0; j < sentences.size(); ++j) {
                    if (j != i) shorter += sentences[j];
                    longer += sentences[j] + (j == i ? sentences[j] : "");
                }
                CHECK(judge(shorter).in_form == 0);
                CHECK(judge(longer).in_form == 0);
            }
        }
    }

    TEST_CASE("judge: values of another tale in a tale keep the form and lose slots") {
        // Replaces the last of a word that occurs more than once by a word of the same kind.
        struct Swap {
            std::string kind;
            std::vector<std::string> words;
        };
        std::vector<Swap> swaps{{"name", {"Ada", "Ben", "Cora", "Dan", "Eva", "Finn"}},
                                {"place", {"mill", "pond", "well", "barn", "gate", "hill"}},
                                {"box", {"box", "jar", "sack", "pot", "crate"}},
                                {"sum", {"four", "five", "six", "seven", "eight", "nine"}}};
        std::vector<std::string> written = split(tales().write(6, 200'000).text);
        for (const auto& [kind, words] : swaps) {
            CAPTURE(kind);
            size_t swapped = 0;
            for (const std::string& tale : written)
                for (const std::string& word : words) {
                    // A sum is said once, after "so " or before " in all".
                    size_t at = kind == "sum" ? std::min(tale.find("so " + word), tale.find(", " + word + " in all"))
                                              : tale.rfind(" " + word);
                    if (at == tale.npos || (kind != "sum" && tale.find(" " + word) == at && !tale.starts_with(word)))
                        continue;
                    at = tale.find(word, at);
                    if (std::isalpha(tale[at + word.size()])) continue;
                    for (const std::string& other : words) {
                        if (other == word) continue;
                        Score score = judge(std::string(tale).replace(at, word.size(), other));
                        if (score.in_form == 0) continue;
                        ++swapped;
                        CHECK(score.all_right == 0);
                        CHECK(score.slots_right < score.slots);
                    }
                }
            CHECK(swapped > 50);
        }
    }

    TEST_CASE("corpora: one seed, the same bytes on every machine; another seed, another text") {
        // If a grammar changes on purpose, so do these.
        CHECK(hash_of(tales().write(1, 1'000'000).text.substr(0, 100'000)) == 0x302361d7eb043374);
        CHECK(hash_of(verses().write(1, 1'000'000).text.substr(0, 100'000)) == 0x788f86245b4723a8);
        for (const Grammar* grammar : {&tales(), &verses()}) {
            std::string text = grammar->write(1, 10'000).text;
            CHECK(grammar->write(1, 20'000).text.starts_with(text));
            CHECK(grammar->write(2, 10'000).text != text);
        }
    }

    TEST_CASE("corpora: tales are printable ASCII, about a megabyte, no two alike") {
        std::string text = tales().write(1, 1'000'000).text;
        CHECK(text.size() >= 1'000'000);
        CHECK(text.size() < 1'001'000);
        CHECK(std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
        std::vector<std::string> all = split(text);
        CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
    }

    TEST_CASE("corpora: verses are UTF-8 with more than 200 distinct characters") {
        Corpus corpus = load_corpus("verses");
        CHECK(corpus.vocabulary.size() > 200);
        CHECK(corpus.judge == &verses());
    }

    TEST_CASE("corpora: no tale of the validation part is one of the training part") {
        Corpus corpus = load_corpus("tales");
        CHECK(corpus.judge == &tales());
        std::vector<std::string> train = split(corpus.vocabulary.decode(corpus.train)),
                                 val = split(corpus.vocabulary.decode(corpus.val));
        std::set<std::string> seen(train.begin(), train.end());
        CHECK(val.size() > 300);
        for (const std::string& tale : val) REQUIRE_FALSE(seen.contains(tale));
    }

    TEST_CASE("corpora: the floor is the validation part's own cost per character") {
        for (const char* name : {"tales", "verses"}) {
            Corpus corpus = load_corpus(name);
            REQUIRE(corpus.floor.has_value());
            double nats = 0;
            size_t characters = 0;
            std::vector<std::string> val = split(corpus.vocabulary.decode(corpus.val));
            for (size_t i = 1; i < val.size(); ++i) {  // the first is cut
                nats += *corpus.judge->tale_nats(val[i]);
                characters += decode_utf8(val[i], "tale").size() + 2;
            }
            CHECK(nats / double(characters) == doctest::Approx(*corpus.floor).epsilon(0.01));
        }
    }
}
