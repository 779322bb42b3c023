// Translations: one grammar's choices told by another, the built-in pairs, and files of two columns.
#include <set>
#include <stdexcept>

#include "common/text/corpus.h"
#include "common/text/pairs.h"
#include "common/text/utf8.h"
#include "data/grammar.h"
#include "data/pairs.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

const char* const english = R"(
tale = <start> <end>
start = <friend!> saw a <thing!>. | A <thing!> saw <friend!>.
end = "My <thing?>!" said <friend?>.
friend = Ada | Bo
thing = dog | cat | bird
)";

// With one line of it replaced.
Grammar telling(const std::string& line = "", const std::string& by = "") {
    std::string rules = R"(
tale = <start><end>
start = <friend> a vu <thing.article> <thing>. | <thing.article> <thing> a vu <friend>.
end = <friend>: <thing>!
friend = Ada | Bo
thing = chien | chat | oiseau
thing.article = ce | ce | cet
)";
    if (!line.empty()) rules.replace(rules.find(line), line.size(), by);
    return Grammar(rules);
}

void check_refused(const Grammar& grammar, const std::string& words) {
    std::string text = "(accepted)";
    try {
        grammar.must_tell(Grammar(english));
    } catch (const std::invalid_argument& error) {
        text = error.what();
    }
    CHECK_MESSAGE(text.find(words) != text.npos, "\"", text, "\" should say \"", words, "\"");
}

std::vector<Sentence> sentences(uint64_t seed, size_t bytes) {
    std::vector<Sentence> all;
    for (const Document& tale : tales().documents(seed, bytes)) all.insert(all.end(), tale.begin(), tale.end());
    return all;
}

std::string translated(std::string_view sentence) { return translation(sentence).value_or("(none)"); }

}  // namespace

TEST_SUITE("pairs") {
    TEST_CASE("grammar: a sentence that stands alone is read, whatever it returns to") {
        Grammar grammar(english);
        CHECK(grammar.read_sentence("A cat saw Bo.") == Derivation{{"start", 1}, {"thing", 1}, {"friend", 1}});
        CHECK(grammar.read_sentence("\"My bird!\" said Ada.") == Derivation{{"end", 0}, {"thing", 2}, {"friend", 0}});
        for (const char* wrong : {"", "A cat saw Bo", "A cat saw Bo. ", "a cat saw Bo.", "A cow saw Bo.", "Bo saw Bo."})
            CHECK_FALSE(grammar.read_sentence(wrong).has_value());
        CHECK_FALSE(grammar.read_sentence("A cat saw Bo. \"My cat!\" said Bo.").has_value());  // two sentences
    }

    TEST_CASE("grammar: the choices of one are told by another, in its own order and more than once") {
        Grammar original(english), french = telling();
        french.must_tell(original);
        auto tell = [&](const char* sentence) { return french.tell(original.read_sentence(sentence).value()); };
        CHECK(tell("Bo saw a dog.") == "Bo a vu ce chien.");
        CHECK(tell("A bird saw Ada.") == "cet oiseau a vu Ada.");
        CHECK(tell("\"My cat!\" said Bo.") == "Bo: chat!");
    }

    TEST_CASE("grammar: a telling that does not fit is refused, and the rule is named") {
        check_refused(telling("friend = Ada | Bo", "friend = Ada"), "rule friend has 1 alternatives, the original's 2");
        check_refused(telling("= ce | ce | cet", "= ce | cet"), "rule thing.article has 2 alternatives");
        check_refused(telling("= <friend>: <thing>!", "= <friend>!"), "rule end does not use the original's rules");
        check_refused(telling("thing.article = ce | ce | cet\n", "thing.article = ce | ce | cet\nverb = a\n"),
                      "rule verb is not in the original");
        check_refused(telling("end = <friend>", "end = <friend!>"), "rule end remembers");
        check_refused(Grammar("tale = <start>\nstart = a | b\n"), "does not use the original's rules");
    }

    TEST_CASE("translation: by hand, a sentence of every form") {
        CHECK(translated("Cora made a flat lamp at the road.") == "科拉在路边做了一盏扁灯。");
        CHECK(translated("At the road Cora made a flat lamp.") == "在路边，科拉做了一盏扁灯。");
        CHECK(translated("A dove sang \"ming ming\" to Cora.") == "一只鸽子对科拉唱道：“ming ming”。");
        CHECK(translated("\"ming ming\" sang a dove to Cora.") == "“ming ming”，一只鸽子对科拉唱道。");
        CHECK(translated("Leo hid the clean hat in a pot at the sea.") == "里奥在海边把干净的帽子藏在一口锅里。");
        CHECK(translated("At the sea Leo hid the clean hat in a pot.") == "在海边，里奥把干净的帽子藏在一口锅里。");
        CHECK(translated("She cooked two and four peas, six in all.") == "她煮了两粒加四粒豌豆，一共六粒。");
        CHECK(translated("Leo ate seven and two cakes, so nine.") == "里奥吃了七块加两块蛋糕，就是九块。");
        CHECK(translated("In the jar at the oak was the red drum.") == "橡树下的罐子里是那面红鼓。");
        CHECK(translated("The red drum was in the jar at the oak.") == "那面红鼓在橡树下的罐子里。");
        CHECK(translated("Zoe was proud.") == "佐伊很自豪。");
        CHECK(translated("\"My pink kite!\" said Zoe.") == "“我那只粉色的风筝！”佐伊说。");
    }

    TEST_CASE("translation: what is no sentence of the tales, or contradicts itself, has none") {
        for (const char* wrong : {"", "Cora made a flat lamp.", "Cora made a flat lamp at the road", "科拉很自豪。",
                                  "A dove sang \"ming mang\" to Cora.", "She cooked two and four peas, seven in all.",
                                  "Cora was proud. Zoe was proud.", "Cora was proud.\n", "Cora  was proud."})
            CHECK_MESSAGE(!translation(wrong).has_value(), wrong);
    }

    TEST_CASE("translation: every sentence of the tales has one, in Chinese but for what a bird sings") {
        for (const Sentence& sentence : sentences(11, 200'000)) {
            std::optional<std::string> target = translation(sentence.text);
            REQUIRE_MESSAGE(target.has_value(), sentence.text);
            bool song = sentence.text.find(" sang ") != std::string::npos;
            bool letters = std::ranges::any_of(*target, [](char c) { return c >= ' ' && c <= '~'; });
            CHECK_MESSAGE(letters == song, *target);
        }
    }

    TEST_CASE("translation: a sentence has one derivation: each word in each place is read as itself") {
        std::vector<Sentence> some = sentences(12, 4'000);
        for (const Sentence& sentence : some) {
            Derivation derivation = tales().read_sentence(sentence.text).value();
            REQUIRE(tales().tell(derivation) == sentence.text);
            for (const auto& [rule, choice] : derivation) {
                if (rule == "sum" || rule == "sums" || rule == "name") continue;  // these have to agree with others
                Derivation other = derivation;
                for (other[rule] = 0;; ++other[rule]) {
                    std::string text;
                    try {
                        text = tales().tell(other);
                    } catch (const std::out_of_range&) {  // no more alternatives, or one that makes other choices
                        break;
                    }
                    CHECK_MESSAGE(tales().read_sentence(text) == other, text);
                }
            }
        }
    }

    TEST_CASE("pairs: as many as asked for, each sentence once, the same for the same seed") {
        std::vector<Pair> all = pairs(1, 20'000);
        CHECK(all.size() == 20'000);
        std::set<std::string> seen;
        size_t source = 0, target = 0;
        for (const Pair& pair : all) {
            REQUIRE(seen.insert(pair.source).second);
            REQUIRE(translation(pair.source) == pair.target);
            source += decode_utf8(pair.source, "source").size();
            target += decode_utf8(pair.target, "target").size();
        }
        CHECK(double(source) / 20'000 == doctest::Approx(36).epsilon(0.05));
        CHECK(double(target) / 20'000 == doctest::Approx(16).epsilon(0.05));
        std::string lines = to_lines(all);
        CHECK(lines.starts_with(to_lines(pairs(1, 500))));
        CHECK_FALSE(lines.starts_with(to_lines(pairs(2, 5))));
        CHECK(hash_of(lines) == 0xa7ab44c035776bdf);  // if the grammar changes on purpose, so does this
        CHECK(pairs(1, 0).empty());
    }

    TEST_CASE("load_pairs: the built-in ones, nine tenths to train on, and none of the rest among them") {
        ParallelCorpus corpus = load_pairs("pairs");
        CHECK(corpus.name == "pairs");
        CHECK(corpus.built_in);
        CHECK(corpus.train.size() == 18'000);
        CHECK(corpus.val.size() == 2'000);
        CHECK(corpus.hash == hash_of(to_lines(pairs(1, 20'000))));
        std::set<std::u32string> seen;
        for (const ParallelCorpus::Pair& pair : corpus.train) seen.insert(pair.source);
        for (const ParallelCorpus::Pair& pair : corpus.val) {
            REQUIRE_FALSE(seen.contains(pair.source));
            REQUIRE(translation(encode_utf8(pair.source)) == encode_utf8(pair.target));
        }
    }

    TEST_CASE("make_parallel_corpus: a file's pairs, with any line ends and a byte order mark") {
        for (const char* text :
             {"a b\t\xE4\xBD\xA0\nc\td", "a b\t\xE4\xBD\xA0\nc\td\n", "a b\t\xE4\xBD\xA0\r\nc\td\r\n",
              "\xEF\xBB\xBF"
              "a b\t\xE4\xBD\xA0\nc\td\n"}) {
            ParallelCorpus corpus = make_parallel_corpus("book", text);
            REQUIRE(corpus.train.size() == 1);
            REQUIRE(corpus.val.size() == 1);
            CHECK(corpus.train[0].source == U"a b");
            CHECK(corpus.train[0].target == U"\u4F60");
            CHECK(corpus.val[0].source == U"c");
            CHECK(corpus.val[0].target == U"d");
            CHECK_FALSE(corpus.built_in);
        }
        CHECK(make_parallel_corpus("one", "a\tb\nc\td\n").hash == make_parallel_corpus("two", "a\tb\nc\td\n").hash);
        CHECK(make_parallel_corpus("one", "a\tb\nc\td\n").hash != make_parallel_corpus("one", "a\tb\nc\te\n").hash);
    }

    TEST_CASE("make_parallel_corpus: in the file's order, and no sentence that is trained on is validated on") {
        std::string text;
        for (int i = 0; i < 18; ++i) text += str(i, "\t", i, "\n");
        ParallelCorpus corpus = make_parallel_corpus("book", text + "7\tseven\nnew\t7\n");
        REQUIRE(corpus.train.size() == 18);
        CHECK(corpus.train[17].source == U"17");
        REQUIRE(corpus.val.size() == 1);
        CHECK(corpus.val[0].source == U"new");
        CHECK(corpus.seen == 1);
        check_error([&] { make_parallel_corpus("book", text + "7\tseven\n0\tnought\n"); },
                    {"book has no sentence in its last tenth", "none to validate on"});
    }

    TEST_CASE("make_parallel_corpus: a bad line is named with what is wrong with it") {
        auto check = [](const std::string& text, const std::vector<std::string>& words) {
            check_error([&] { make_parallel_corpus("book", text); }, words);
        };
        check("a\tb\nc d\n", {"line 2 of book", "no tab"});
        check("a\tb\n\nc\td\n", {"line 2 of book", "no tab"});
        check("a\tb\tc\n", {"line 1 of book", "2 tabs"});
        check("a\tb\nc\t\n", {"line 2 of book", "nothing after its tab"});
        check("a\tb\nc\t\r\n", {"line 2 of book", "nothing after its tab"});
        check("a\tb\n\td\n", {"line 2 of book", "nothing before its tab"});
        check("a\tb\nc\tcaf\xE9\n", {"line 2 of book is not UTF-8", "0xE9", "offset 5", "LATIN1"});
        check(std::string("\xFF\xFE"
                          "a\0\t\0b\0\n\0",
                          10),
              {"line 1 of book is not UTF-8", "UTF-16"});
        check("", {"book is empty"});
        check("\xEF\xBB\xBF", {"book is empty"});
        check("a\tb\n", {"book has only one pair"});
        check_error([] { load_pairs("no/such/file"); }, {"no/such/file", "No such file"});
        check_error([] { load_pairs("/tmp"); }, {"/tmp", "directory"});
        check_error([] { load_pairs("-"); }, {"--data -"});
    }
}
