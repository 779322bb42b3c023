// Texts as sentences, and their tokens: what stage 13 reads.
#include <filesystem>
#include <fstream>

#include "common/text/corpus.h"
#include "common/text/sentences.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

struct TextFile {
    std::string path;
    explicit TextFile(const std::string& bytes)
        : path((std::filesystem::temp_directory_path() / str("babygpt-lines-", hash_of(bytes))).string()) {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    ~TextFile() { std::filesystem::remove(path); }
};

std::string sentence(const Sentences& text, int number) { return text.tokenizer.decode(text.tokens[size_t(number)]); }

std::string numbered_lines(int count, const std::string& end = "\n") {
    std::string text;
    for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + end;
    return text;
}

}  // namespace

TEST_SUITE("sentences") {
    TEST_CASE("tokenizer: special tokens come first, and no text holds one") {
        CharacterTokenizer tokenizer(Vocabulary(U"ab [MASK]é"));
        CHECK(tokenizer.tokens[size_t(tokenizer.mask)] == "[MASK]");
        std::vector<int> ids = tokenizer.encode("[MASK] é", "text");
        CHECK(ids.size() == 8);
        for (int id : ids) CHECK(id > tokenizer.mask);
        CHECK(tokenizer.decode(ids) == "[MASK] é");
        check_error([&] { tokenizer.encode("a?", "text"); }, {"the text has characters", "'?' (U+003F) at position 2"});
    }

    TEST_CASE("tales: pairs share at least three of name, thing, place and box, and stand in one tale") {
        Sentences text = load_sentences("tales");
        CHECK(text.tokens.size() == text.spans.size());
        CHECK(text.train.size() > 30'000);
        CHECK(text.val.size() == doctest::Approx(0.1 * double(text.train.size() + text.val.size())).epsilon(0.01));
        for (size_t i = 0; i < text.val.size(); i += 97) {
            const Sentences::Pair& pair = text.val[i];
            CHECK(pair.first >= text.val_begins);
            CHECK(pair.first / 6 == pair.second / 6);  // a tale has six sentences
            std::map<std::string, std::string> values[2];
            for (int j : {0, 1}) {
                int number = j ? pair.second : pair.first;
                for (const Span& span : text.spans[size_t(number)])
                    values[j][span.kind] =
                        text.tokenizer.decode(std::span(text.tokens[size_t(number)]).subspan(span.first, span.length));
            }
            int shared = 0;
            for (const auto& [kind, value] : values[0])
                if (values[1].contains(kind)) {
                    CHECK(values[1][kind] == value);
                    ++shared;
                }
            CHECK(shared >= 3);
        }
        CHECK(text.train.back().second < text.val_begins);
        CHECK(text.val_begins % 6 == 0);
    }

    TEST_CASE("a file: lines that follow each other, but for empty ones between; CRLF and marks do not count") {
        for (const char* end : {"\n", "\r\n"}) {
            TextFile file("\xEF\xBB\xBF" + numbered_lines(12, end) + end + end + numbered_lines(12, end));
            Sentences text = load_sentences(file.path);
            CHECK(text.tokens.size() == 24);
            CHECK(text.train.size() + text.val.size() == 21);  // without the one across the cut
            CHECK(sentence(text, 0) == "line 0");
            for (const auto* part : {&text.train, &text.val})
                for (const Sentences::Pair& pair : *part) {
                    CHECK(pair.second == pair.first + 1);
                    CHECK(pair.second != 12);  // an empty line stands before it
                }
            CHECK(text.val.size() == 3);
            CHECK(text.val_begins == text.val[0].first);
            for (const Sentences::Pair& pair : text.train) CHECK(pair.second < text.val_begins);
            CHECK(text.train.back().second == text.val_begins - 1);
        }
        TextFile without_end(numbered_lines(21) + "end");
        CHECK(sentence(load_sentences(without_end.path), 21) == "end");
    }

    TEST_CASE("a byte order mark within a file is a character, also where the lines before it are empty") {
        TextFile file("\n\xEF\xBB\xBF" + numbered_lines(22));
        Sentences text = load_sentences(file.path);
        CHECK(sentence(text, 0) == "\xEF\xBB\xBFline 0");
        CHECK(sentence(text, 21) == "line 21");
    }

    TEST_CASE("a file that cannot be learnt from is refused with what is missing") {
        const std::vector<std::string> texts{"", numbered_lines(20), "one long line", numbered_lines(40, "\n\n")};
        for (const std::string& bytes : texts) {
            TextFile file(bytes);
            check_error([&] { load_sentences(file.path); }, {file.path, "lines that follow another one", "20 or more"});
        }
        TextFile latin("caf\xE9\n");
        check_error([&] { load_sentences(latin.path); }, {"not UTF-8"});
        check_error([&] { load_sentences("-"); }, {"--data - is no file"});
        Sentences verses = load_sentences("verses");  // four lines a verse
        CHECK(verses.train.size() > 1000);
    }
}
