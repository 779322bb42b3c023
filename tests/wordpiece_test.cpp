// BERT's tokens: what a text is cut into, worked out by hand after Hugging Face's BertTokenizer.
#include "common/text/wordpiece.h"

#include <iterator>
#include <sstream>

#include "common/text/utf8.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

WordPiece tokenizer(const std::string& words, bool lower_case = true) {
    std::istringstream in("[PAD] [UNK] [CLS] [SEP] [MASK] " + words);
    return {{std::istream_iterator<std::string>(in), {}}, lower_case, "vocab.txt"};
}

// The tokens of a text, with spaces between them.
std::string cut(const WordPiece& pieces, std::string_view text) {
    std::string all;
    for (int id : pieces.encode(text, "text")) all += (all.empty() ? "" : " ") + pieces.tokens.at(size_t(id));
    return all;
}

// The same with a vocabulary of all words in `expected`: shows where words are cut, and what becomes of their letters.
void check_words(const std::string& text, const std::string& expected, bool lower_case = true) {
    std::istringstream in(expected);
    std::vector<std::string> words{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    for (std::string word; in >> word;)
        if (!std::ranges::count(words, word)) words.push_back(word);
    CHECK(cut({words, lower_case, "vocab.txt"}, text) == expected);
}

std::string utf8(std::u32string_view text) { return encode_utf8(text); }

}  // namespace

TEST_SUITE("wordpiece") {
    TEST_CASE("wordpiece: each time the longest piece that fits, from the left") {
        WordPiece pieces = tokenizer("un una aff unaff ##able ##aff ##a ##ff ##ffable able ##b ##l ##e");
        CHECK(cut(pieces, "unaffable") == "unaff ##able");
        CHECK(cut(pieces, "un affable unable") == "un aff ##able una ##b ##l ##e");
        CHECK(cut(pieces, "able ableable") == "able able ##able");
    }

    TEST_CASE("wordpiece: greed can fail where another cut would not, and then the whole word is unknown") {
        CHECK(cut(tokenizer("ab abc ##cd"), "abcd") == "[UNK]");
        CHECK(cut(tokenizer("ab ##cd"), "abcd ab xab abx") == "ab ##cd ab [UNK] [UNK]");
        CHECK(cut(tokenizer("cd"), "abcd cd") == "[UNK] cd");
    }

    TEST_CASE("wordpiece: a word of 100 characters is cut, one of 101 is unknown, whatever their bytes") {
        WordPiece pieces = tokenizer(utf8(U"a ##a \u00DF ##\u00DF"));
        CHECK(pieces.encode(std::string(100, 'a'), "text").size() == 100);
        CHECK(cut(pieces, std::string(101, 'a')) == "[UNK]");
        CHECK(pieces.encode(utf8(std::u32string(100, U'\u00DF')), "text").size() == 100);
        CHECK(cut(pieces, utf8(std::u32string(101, U'\u00DF'))) == "[UNK]");
        CHECK(cut(pieces, std::string(1'000'000, 'a')) == "[UNK]");
    }

    TEST_CASE("wordpiece: punctuation stands alone, symbols of ASCII too, others stay in their word") {
        check_words("Hello, world! (it's 5%)", "hello , world ! ( it ' s 5 % )");
        check_words("a+b=c$d^e~f_g-h", "a + b = c $ d ^ e ~ f _ g - h");
        check_words(utf8(U"\u201CYes\u201D\u2014no\u2026"), utf8(U"\u201C yes \u201D \u2014 no \u2026"));
        check_words(utf8(U"5\u20AC a\u00D7b \u00A9me \u00BFque"), utf8(U"5\u20AC a\u00D7b \u00A9me \u00BF que"));
        check_words("...", ". . .");
    }

    TEST_CASE("wordpiece: every kind of space separates, controls vanish") {
        check_words(" a\tb\nc\r\nd  e ", "a b c d e");
        check_words(utf8(U"a\u00A0b\u3000c\u2003d\u2028e\u2029f"), "a b c d e f");
        check_words(std::string("a\0b\x01"
                                "c\x0B"
                                "d\x7F",
                                8),
                    "abcd");
        check_words(utf8(U"a\u200Bb\u200Dc\uFEFFd\u00ADe\uFFFDf\uE000g\u0378h"), "abcdefgh");
        check_words("\xEF\xBB\xBFword", "word");
    }

    TEST_CASE("wordpiece: a Chinese character is a word") {
        check_words(utf8(U"\u6211\u7231\u5317\u4EAC\u3002"), utf8(U"\u6211 \u7231 \u5317 \u4EAC \u3002"));
        check_words(utf8(U"abc\u4F60de\u597D1"), utf8(U"abc \u4F60 de \u597D 1"));
        check_words(utf8(U"\u3400\u4DBF\u4E00\u9FFF\U00020000"), utf8(U"\u3400 \u4DBF \u4E00 \u9FFF \U00020000"));
        check_words(utf8(U"\uF900"), utf8(U"\u8C48"));  // a compatibility form, normalised
        check_words(utf8(U"\uFADA"), "");               // nothing has this place in its block
        // kana are letters, and hangul falls apart into jamo with its accents
        check_words(utf8(U"\u3042\u3044\u4E9C"), utf8(U"\u3042\u3044 \u4E9C"));
        check_words(utf8(U"\uD55C"), utf8(U"\u1112\u1161\u11AB"));
        check_words(utf8(U"\uD55C"), utf8(U"\uD55C"), false);
    }

    TEST_CASE("wordpiece: lower case loses capitals and accents, in every script that has them") {
        check_words(utf8(U"H\u00E9llo \u00C5ngstr\u00F6m"), "hello angstrom");
        check_words(utf8(U"e\u0301 \u1EC7 \u0130"), "e e i");  // a mark of its own, two marks, a capital with one
        check_words(utf8(U"Stra\u00DFe \u00D8re \u0141\u00F3d\u017A"), utf8(U"stra\u00DFe \u00F8re \u0142odz"));
        check_words(utf8(U"\u0391\u03B8\u03AE\u03BD\u03B1 \u041C\u043E\u0441\u043A\u0432\u0430 \u0419"),
                    utf8(U"\u03B1\u03B8\u03B7\u03BD\u03B1 \u043C\u043E\u0441\u043A\u0432\u0430 \u0438"));
        check_words(utf8(U"\u0301"), "");  // a mark without a letter
    }

    TEST_CASE("wordpiece: without lower case capitals and accents stay, a mark joins its letter") {
        check_words(utf8(U"H\u00E9llo e\u0301 ABC"), utf8(U"H\u00E9llo \u00E9 ABC"), false);
        check_words(utf8(U"\U0001D15E"), utf8(U"\U0001D157\U0001D165"), false);  // one that Unicode keeps apart
        CHECK(cut(tokenizer("abc", false), "ABC abc") == "[UNK] abc");
    }

    TEST_CASE("wordpiece: emoji are words, and what joins or varies them is lost") {
        check_words(utf8(U"\U0001F600 ok\U0001F44D"), utf8(U"\U0001F600 ok\U0001F44D"));
        check_words(utf8(U"\U0001F468\u200D\U0001F469 \u2764\uFE0F"), utf8(U"\U0001F468\U0001F469 \u2764"));
        CHECK(cut(tokenizer("a"), utf8(U"a \U0001F600")) == "a [UNK]");
    }

    TEST_CASE("wordpiece: special tokens in the text are tokens, in this spelling alone") {
        WordPiece pieces = tokenizer("a kite [ ] mask b [unused1] unused ##1");
        CHECK(cut(pieces, "a [MASK] kite") == "a [MASK] kite");
        CHECK(cut(pieces, "a[MASK]kite[SEP]") == "a [MASK] kite [SEP]");
        CHECK(cut(pieces, "[MASK][MASK] [[MASK]]") == "[MASK] [MASK] [ [MASK] ]");
        CHECK(cut(pieces, "[mask] [ MASK] [MASK") == "[ mask ] [ mask ] [ mask");
        CHECK(cut(pieces, "[CLS]a[PAD][UNK]") == "[CLS] a [PAD] [UNK]");
        CHECK(cut(pieces, "[unused1]") == "[ unused ##1 ]");
        CHECK(cut(tokenizer("a", false), "[MASK] a") == "[MASK] a");
    }

    TEST_CASE("wordpiece: special tokens are known by their names, wherever they stand") {
        WordPiece pieces({"x", "[MASK]", "[SEP]", "[CLS]", "[UNK]", "[PAD]"}, true, "vocab.txt");
        CHECK(pieces.mask == 1);
        CHECK(pieces.sep == 2);
        CHECK(pieces.cls == 3);
        CHECK(pieces.unk == 4);
        CHECK(pieces.pad == 5);
        CHECK(pieces.size() == 6);
    }

    TEST_CASE("wordpiece: no text, no tokens") {
        for (const char* text : {"", " ", "\n\t ", "\x01", "\xEF\xBB\xBF"}) CHECK(cut(tokenizer("a"), text) == "");
        CHECK(tokenizer("a").decode(std::vector<int>{}) == "");
    }

    TEST_CASE("wordpiece: a text that is not UTF-8 is named") {
        check_error([] { tokenizer("a").encode("a\xFF", "prompt"); }, {"prompt is not UTF-8", "0xFF"});
    }

    TEST_CASE("wordpiece: many brackets take no longer than other text") {
        CHECK(tokenizer("[").encode(std::string(300'000, '['), "text").size() == 300'000);
        std::string masks;
        for (int i = 0; i < 100'000; ++i) masks += "[MASK]";
        CHECK(tokenizer("[").encode(masks, "text").size() == 100'000);
    }

    TEST_CASE("wordpiece: decode puts words together and leaves spaces between them") {
        WordPiece pieces = tokenizer(utf8(U"un ##aff ##able , a \u6211 ##"));
        auto back = [&](std::string_view text) { return pieces.decode(pieces.encode(text, "text")); };
        CHECK(back("unaffable, a") == "unaffable , a");
        CHECK(back(utf8(U"\u6211\u6211")) == utf8(U"\u6211 \u6211"));
        CHECK(back("[CLS] a [MASK]") == "[CLS] a [MASK]");
        CHECK(pieces.decode(std::vector<int>{6, 7}) == "##affable");  // nothing before it to be put to
    }

    TEST_CASE("wordpiece: a vocabulary with a token twice or without a special one is refused") {
        check_error([] { tokenizer("a b a"); }, {"vocab.txt", "a twice", "lines 6 and 8"});
        check_error([] { tokenizer("##a ##a"); }, {"vocab.txt", "##a twice"});
        tokenizer("a ##a");
        for (const char* missing : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
            std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[mask]"};
            std::erase(tokens, missing);
            check_error([&] { WordPiece(tokens, true, "vocab.txt"); }, {"vocab.txt has no ", missing});
        }
        check_error([] { tokenizer("\xFF"); }, {"vocab.txt", "UTF-8"});
    }
}
