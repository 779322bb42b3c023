// Texts: UTF-8 in all its right and wrong forms, vocabularies, the split, batches, and the baselines.
#include "common/base/format.h"
#include "common/text/baselines.h"
#include "common/text/batches.h"
#include "common/text/utf8.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

std::u32string decode(std::string_view bytes) { return decode_utf8(bytes, "text"); }

void check_invalid(std::string_view bytes, size_t offset, const std::string& byte) {
    CAPTURE(offset);
    CAPTURE(byte);
    std::string padded = "ab\xC3\xA9" + std::string(bytes);  // the offset counts bytes, not characters
    check_error([&] { decode(bytes); }, {"text is not UTF-8", "byte " + byte, str("offset ", offset, ";")});
    check_error([&] { decode(padded); }, {"text is not UTF-8", "byte " + byte, str("offset ", offset + 4, ";")});
    check_error([&] { decode(std::string(bytes) + "x"); }, {"byte " + byte, str("offset ", offset, ";")});
}

Corpus corpus_of(std::u32string_view train, std::u32string_view val) {
    Vocabulary vocabulary(std::u32string(train) + std::u32string(val));
    return {"text", vocabulary, vocabulary.encode(train, "text"), vocabulary.encode(val, "text"), {}, nullptr, 0};
}

}  // namespace

TEST_SUITE("text") {
    TEST_CASE("UTF-8: a token is a code point, in every script") {
        CHECK(decode("") == U"");
        CHECK(decode("plain ASCII~") == U"plain ASCII~");
        CHECK(decode("\xE4\xBD\xA0\xE5\xA5\xBD") == U"\u4F60\u597D");
        CHECK(decode("\xF0\x9F\x98\x80\xF0\xA0\x80\x80") == U"\U0001F600\U00020000");
        CHECK(decode("e\xCC\x81") == U"e\u0301");  // a combining mark is a character of its own
        CHECK(decode("\xC3\xA9") == U"\u00E9");
        CHECK(decode("a\r\nb\r") == U"a\r\nb\r");
        CHECK(decode(std::string_view("a\0b", 3)) == std::u32string_view(U"a\0b", 3));
    }

    TEST_CASE("UTF-8: the first and last character of every length") {
        for (char32_t c : {0x0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x10FFFF}) {
            std::u32string text(2, c);
            CHECK(decode(encode_utf8(text)) == text);
        }
        CHECK(encode_utf8(U"\u0080") == "\xC2\x80");
        CHECK(encode_utf8(U"\u0800") == "\xE0\xA0\x80");
        CHECK(encode_utf8(U"\U00010000") == "\xF0\x90\x80\x80");
        CHECK(encode_utf8(U"\U0010FFFF") == "\xF4\x8F\xBF\xBF");
    }

    TEST_CASE("UTF-8: characters are counted, and the columns of a terminal that they take") {
        for (const auto& [text, length, columns] :
             {std::tuple("", 0, 0), std::tuple("plain", 5, 5), std::tuple("\u4F60\u597D!", 3, 5),
              std::tuple("e\u0301", 2, 1), std::tuple("\u23CE\u21E5", 2, 2), std::tuple("\U0001F600", 1, 2)}) {
            CAPTURE(text);
            CHECK(utf8_length(text) == size_t(length));
            CHECK(terminal_columns(text) == columns);
        }
    }

    TEST_CASE("UTF-8: a byte order mark at the start is dropped, later it is a character") {
        CHECK(decode("\xEF\xBB\xBFhi") == U"hi");
        CHECK(decode("\xEF\xBB\xBF") == U"");
        CHECK(decode("a\xEF\xBB\xBFz") == U"a\uFEFFz");
        CHECK(decode("\xEF\xBB\xBF\xEF\xBB\xBFz") == U"\uFEFFz");
        check_error([] { decode("\xEF\xBB\xBFok\xFF"); }, {"offset 5;"});
    }

    TEST_CASE("UTF-8: every kind of invalid byte is named with its offset") {
        check_invalid("\x80", 0, "0x80");  // a continuation without a start
        check_invalid("a\xBF", 1, "0xBF");
        check_invalid("\xC3\xA9\xA9", 2, "0xA9");
        check_invalid("\xC0\x80", 0, "0xC0");  // longer than needed: two bytes,
        check_invalid("\xC1\xBF", 0, "0xC1");
        check_invalid("\xE0\x80\x80", 0, "0xE0");  // three,
        check_invalid("\xE0\x9F\xBF", 0, "0xE0");
        check_invalid("\xF0\x80\x80\x80", 0, "0xF0");  // four
        check_invalid("\xF0\x8F\xBF\xBF", 0, "0xF0");
        check_invalid("\xED\xA0\x80", 0, "0xED");  // surrogates
        check_invalid("\xED\xBF\xBF", 0, "0xED");
        check_invalid("\xED\xA0\xBD\xED\xB8\x80", 0, "0xED");
        check_invalid("\xF4\x90\x80\x80", 0, "0xF4");  // above U+10FFFF
        check_invalid("\xF5\x80\x80\x80", 0, "0xF5");
        check_invalid("\xF8\x88\x80\x80\x80", 0, "0xF8");  // five and six bytes
        check_invalid("\xFC\x84\x80\x80\x80\x80", 0, "0xFC");
        check_invalid("\xFE", 0, "0xFE");
        check_invalid("\xFF", 0, "0xFF");
        check_invalid("\xC3", 0, "0xC3");  // cut off
        check_invalid("z\xE4\xBD", 1, "0xE4");
        check_invalid("\xE4", 0, "0xE4");
        check_invalid("\xF0\x9F\x98", 0, "0xF0");
        check_invalid("\xF0\x9F", 0, "0xF0");
        check_invalid("\xF0", 0, "0xF0");
        check_invalid("\xE4\x41\x80", 0, "0xE4");  // broken off by another character
        check_invalid("\xF0\x9F\x98\x41", 0, "0xF0");
    }

    TEST_CASE("UTF-8: a UTF-16 text, with a byte order mark or without, is called by its name") {
        using namespace std::string_view_literals;
        for (std::string_view text : {"\xFF\xFEh\0i\0"sv, "\xFE\xFF\0h\0i"sv, "h\0i\0\xE9\0"sv, "\0h\0i\0\xE9"sv})
            check_error([&] { decode(text); }, {"not UTF-8", "convert it first", "iconv -f UTF-16 -t UTF-8"});
        check_error([] { decode("caf\xE9"); }, {"iconv -f LATIN1 -t UTF-8"});
    }

    TEST_CASE("UTF-8: every code point survives the round trip, every surrogate is refused") {
        std::u32string all;
        for (char32_t c = 1; c < 0x110000; ++c)
            if (c < 0xD800 || c > 0xDFFF) all.push_back(c);
        CHECK(decode(encode_utf8(all)) == all);
        for (char32_t c = 0xD800; c <= 0xDFFF; c += 0xFF)
            check_error([&] { decode(encode_utf8({&c, 1})); }, {"not UTF-8"});
    }

    TEST_CASE("describe: a character with its code, a control character by its code alone") {
        CHECK(describe(U'a') == "'a' (U+0061)");
        CHECK(describe(U'\u4F60') == "'\xE4\xBD\xA0' (U+4F60)");
        CHECK(describe(U'\U0001F600') == "'\xF0\x9F\x98\x80' (U+1F600)");
        CHECK(describe(U'\n') == "U+000A");
        CHECK(describe(char32_t(0x7F)) == "U+007F");
        CHECK(describe(char32_t(0x85)) == "U+0085");
    }

    TEST_CASE("Vocabulary: the characters that occur, sorted; text to tokens and back") {
        Vocabulary vocabulary(U"hello\u4F60\U0001F600h");
        CHECK(vocabulary.characters == U"ehlo\u4F60\U0001F600");
        CHECK(vocabulary.size() == 6);
        std::vector<int> tokens = vocabulary.encode(U"\u4F60hello\U0001F600", "text");
        CHECK(tokens == std::vector<int>{4, 1, 0, 2, 2, 3, 5});
        CHECK(vocabulary.decode(tokens) == "\xE4\xBD\xA0hello\xF0\x9F\x98\x80");
        CHECK(vocabulary.encode(U"", "text").empty());
    }

    TEST_CASE("Vocabulary: unknown characters are named, with their places") {
        Vocabulary vocabulary(U"abc");
        check_error(
            [&] { vocabulary.encode(U"abXa\u00E9\n", "prompt"); },
            {"prompt", "'X' (U+0058) at position 3", "(U+00E9) at position 5", "U+000A at position 6", "3 characters"});
        check_error([&] { vocabulary.encode(U"\U0010FFFF", "prompt"); }, {"U+10FFFF", "position 1"});
        check_error([&] { vocabulary.encode(std::u32string(1'000'000, U'x'), "prompt"); }, {"'x'", "position 5;"});
    }

    TEST_CASE("make_corpus: the first nine tenths train, the last validates, nothing is lost") {
        for (size_t n : {20, 21, 29, 30, 1234}) {
            std::string text;
            for (size_t i = 0; i < n; ++i) text += char('a' + i % 7);
            Corpus corpus = make_corpus("text", text);
            CHECK(corpus.train.size() == n * 9 / 10);
            std::vector<int> joined = corpus.train;
            joined.insert(joined.end(), corpus.val.begin(), corpus.val.end());
            CHECK(corpus.vocabulary.decode(joined) == text);
        }
    }

    TEST_CASE("make_corpus: the hash knows a text again and tells another") {
        const char *text = "hello hello hello hello", *other = "hello hello hello hellp";
        CHECK(make_corpus("one", text).hash == make_corpus("two", text).hash);
        CHECK(make_corpus("one", text).hash != make_corpus("one", other).hash);
        CHECK(make_corpus("one", text).hash == 0xf6fc277112645277);  // FNV-1a, 64 bits
    }

    TEST_CASE("make_corpus: texts that nothing can be learnt from are refused") {
        check_error([] { make_corpus("book.txt", ""); }, {"book.txt", "empty"});
        check_error([] { make_corpus("book.txt", "aaaa"); }, {"book.txt", "one distinct character", "'a'"});
        check_error([] { make_corpus("book.txt", "\xEF\xBB\xBF"); }, {"book.txt"});
        check_error([] { make_corpus("book.txt", "abc\xE9 def"); }, {"book.txt", "0xE9", "offset 3"});
        check_error([] { load_corpus("no/such/file"); }, {"no/such/file", "No such file"});
        check_error([] { load_corpus("/tmp"); }, {"/tmp", "directory"});
    }

    TEST_CASE("random_batch: y is x one step later, and every place of the text comes up") {
        std::vector<int> text(50);
        for (size_t i = 0; i < text.size(); ++i) text[i] = int(i);
        std::vector<int> starts(50);
        Rng rng(1, "batches");
        for (int round = 0; round < 100; ++round) {
            Batch batch = random_batch(text, 7, 5, rng);
            CHECK(batch.x.B == 7);
            CHECK(batch.x.T == 5);
            for (size_t i = 0; i < 35; ++i) {
                REQUIRE(batch.y.ids[i] == batch.x.ids[i] + 1);
                if (i % 5) REQUIRE(batch.x.ids[i] == batch.x.ids[i - 1] + 1);
            }
            for (size_t b = 0; b < 7; ++b) ++starts.at(size_t(batch.x.ids[b * 5]));
        }
        for (size_t start = 0; start < 50; ++start) CHECK((starts[start] > 0) == (start <= 44));
    }

    TEST_CASE("random_batch: a text of one block and one more is enough, a shorter one is refused") {
        Rng rng(1, "batches");
        Batch batch = random_batch({3, 1, 2}, 2, 2, rng);
        CHECK(batch.x.ids == std::vector<int>{3, 1, 3, 1});
        CHECK(batch.y.ids == std::vector<int>{1, 2, 1, 2});
        check_error([&] { random_batch({3, 1, 2}, 1, 3, rng); }, {"3 characters", "blocks of 3"});
        check_error([&] { random_batch({}, 1, 1, rng); }, {"0 characters"});
    }

    TEST_CASE("random_batch: the stream's state is all it depends on") {
        std::vector<int> text(1000);
        for (size_t i = 0; i < text.size(); ++i) text[i] = int(i);
        Rng rng(1, "batches"), other(2, "batches");
        Rng saved = rng;
        std::vector<int> first = random_batch(text, 4, 8, rng).x.ids;
        CHECK(random_batch(text, 4, 8, saved).x.ids == first);
        CHECK(random_batch(text, 4, 8, rng).x.ids != first);
        CHECK(random_batch(text, 4, 8, other).x.ids != first);
    }

    TEST_CASE("baselines: by hand on a small text") {
        // Trained on aabab: a is seen 3 times, b 2; after a come a, b, b; after b comes a. Each character is pretended
        // once more, so a has 4/7 and b 3/7; each gets one more follower, spread by these.
        Baselines baselines = measure_baselines(corpus_of(U"aabab", U"abba"));
        double a = 4.0 / 7, b = 3.0 / 7;
        CHECK(baselines.uniform == doctest::Approx(std::log(2)));
        CHECK(baselines.unigram == doctest::Approx(-(std::log(b) + std::log(b) + std::log(a)) / 3));
        double ab = (2 + b) / 4, bb = (0 + b) / 2, ba = (1 + a) / 2;
        CHECK(baselines.bigram == doctest::Approx(-(std::log(ab) + std::log(bb) + std::log(ba)) / 3));
        CHECK_FALSE(baselines.floor.has_value());
    }

    TEST_CASE("baselines: characters and pairs that training never saw are improbable, not impossible") {
        Baselines baselines = measure_baselines(corpus_of(U"ababababab", U"xyzx"));
        CHECK(std::isfinite(baselines.unigram));
        CHECK(std::isfinite(baselines.bigram));
        CHECK(baselines.unigram > baselines.uniform);
    }

    TEST_CASE("baselines: says which line a loss is below, and how far the floor is") {
        Baselines baselines{.uniform = 4, .unigram = 3, .bigram = 2, .floor = 0.5};
        CHECK(baselines.describe(1.5) == "below the bigram line, 1.00 above the floor");
        CHECK(baselines.describe(2.5).starts_with("below the unigram line"));
        CHECK(baselines.describe(3.5).starts_with("below knowing nothing"));
        CHECK(baselines.describe(4.5).starts_with("no better than knowing nothing"));
        baselines.floor.reset();
        CHECK(baselines.describe(1.5) == "below the bigram line");
    }
}
