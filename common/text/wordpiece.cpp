#include "common/text/wordpiece.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "common/base/error.h"
#include "common/base/format.h"
#include "common/text/utf8.h"

namespace babygpt {

namespace {

constexpr size_t longest_word = 100;

utf8proc_category_t category(char32_t c) { return utf8proc_category(utf8proc_int32_t(c)); }

bool is_space(char32_t c) {
    return c == '\t' || c == '\n' || c == '\r' ||
           (category(c) >= UTF8PROC_CATEGORY_ZS && category(c) <= UTF8PROC_CATEGORY_ZP);
}

// What is no text: controls, invisible format characters such as joiners, private and unassigned ones.
bool is_control(char32_t c) {
    return c == 0xFFFD || category(c) == UTF8PROC_CATEGORY_CN || category(c) >= UTF8PROC_CATEGORY_CC;
}

// All of ASCII that is neither letter nor digit counts, $ and + too, which Unicode calls symbols.
bool is_punctuation(char32_t c) {
    bool symbol = (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
    return symbol || (category(c) >= UTF8PROC_CATEGORY_PC && category(c) <= UTF8PROC_CATEGORY_PO);
}

// Characters that are words: Chinese ones, also in Japanese, but not kana or hangul.
bool is_chinese(char32_t c) {
    constexpr char32_t blocks[][2] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                                      {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
    return std::ranges::any_of(blocks, [&](auto& block) { return c >= block[0] && c <= block[1]; });
}

// Unicode's normal forms: accents as characters of their own (NFD), or as one with their letter (NFC).
std::u32string normalize(std::u32string_view text, utf8proc_option_t form) {
    std::string bytes = encode_utf8(text);
    utf8proc_uint8_t* result = nullptr;
    utf8proc_ssize_t length =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(bytes.data()), utf8proc_ssize_t(bytes.size()), &result,
                     utf8proc_option_t(form | UTF8PROC_STABLE));
    std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> freed(result, std::free);
    if (length < 0) fail("cannot normalise a text: ", utf8proc_errmsg(length));
    return decode_utf8({reinterpret_cast<char*>(result), size_t(length)}, "a normalised text", true);
}

// Words between spaces; punctuation and Chinese characters are words of their own. Case and accents are those of all of
// Unicode 15, which utf8proc has; only a capital sigma becomes σ at a word's end too, where Python has ς.
std::u32string basic_tokens(std::u32string_view text, bool lower_case) {
    std::u32string clean, words;
    for (char32_t c : text) {
        if (is_space(c))
            clean += U' ';
        else if (!is_control(c))
            is_chinese(c) ? clean += {U' ', c, U' '} : clean += c;
    }
    clean = normalize(clean, UTF8PROC_COMPOSE);
    if (lower_case) {
        for (char32_t& c : clean) c = char32_t(utf8proc_tolower(utf8proc_int32_t(c)));
        clean = normalize(clean, UTF8PROC_DECOMPOSE);
        std::erase_if(clean, [](char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; });
    }
    for (char32_t c : clean) is_punctuation(c) ? words += {U' ', c, U' '} : words += c;
    return words;
}

}  // namespace

WordPiece::WordPiece(std::vector<std::string> vocabulary, bool to_lower_case, const std::string& file)
    : lower_case(to_lower_case) {
    tokens = std::move(vocabulary);
    for (size_t i = 0; i < tokens.size(); ++i) {
        std::u32string token = decode_utf8(tokens[i], file, true);
        bool goes_on = token.starts_with(U"##") && token.size() > 2;
        auto [place, is_new] = goes_on ? later.emplace(token.substr(2), int(i)) : first.emplace(token, int(i));
        if (!is_new)
            fail(file, " has the token ", brief(tokens[i]), " twice, in its lines ", place->second + 1, " and ", i + 1);
    }
    for (int i = 0; int* id : {&pad, &unk, &cls, &sep, &mask}) {
        const std::string& token = special_tokens[size_t(i++)];
        auto found = first.find(decode_utf8(token, file));
        if (found == first.end()) fail(file, " has no ", token, ": it is not the vocabulary of a BERT");
        *id = found->second;
    }
}

std::vector<int> WordPiece::encode(std::string_view text, const std::string& name) const {
    std::u32string characters = decode_utf8(text, name);
    std::u32string_view rest = characters;
    std::vector<int> ids;
    for (size_t at = 0; (at = rest.find(U'[', at)) != rest.npos;) {
        auto is_here = [&](int id) {
            const std::string& token = tokens[size_t(id)];  // of ASCII
            return token.size() <= rest.size() - at && std::equal(token.begin(), token.end(), rest.begin() + at);
        };
        const int special[]{pad, unk, cls, sep, mask}, *found = std::ranges::find_if(special, is_here);
        if (found == std::end(special)) {
            ++at;
            continue;
        }
        encode_words(rest.substr(0, at), ids);
        ids.push_back(*found);
        rest.remove_prefix(at + tokens[size_t(*found)].size());
        at = 0;
    }
    encode_words(rest, ids);
    return ids;
}

std::vector<int> WordPiece::encode_blanks(std::string_view text, const std::string& name) const {
    decode_utf8(text, name);  // here, where a place in it is one in what was typed
    std::string masked;
    for (char c : text) c == '_' ? masked += tokens[size_t(mask)] : masked += c;
    return encode(masked, name);
}

void WordPiece::encode_words(std::u32string_view text, std::vector<int>& ids) const {
    std::u32string words = basic_tokens(text, lower_case);
    for (size_t begin = 0; begin < words.size();) {
        size_t end = std::min(words.find(U' ', begin), words.size());
        if (end > begin) encode_word({words.data() + begin, end - begin}, ids);
        begin = end + 1;
    }
}

// Greedy: from the left, each time the longest piece that the vocabulary has.
void WordPiece::encode_word(std::u32string_view word, std::vector<int>& ids) const {
    const size_t before = ids.size();
    size_t begin = 0, length = word.size() > longest_word ? 0 : word.size();
    while (begin < word.size() && length > 0) {
        const Ids& pieces = begin ? later : first;
        auto found = pieces.find(word.substr(begin, length));
        if (found == pieces.end()) {
            --length;
        } else {
            ids.push_back(found->second);
            begin += length, length = word.size() - begin;
        }
    }
    if (begin == word.size()) return;
    ids.resize(before);
    ids.push_back(unk);
}

std::string WordPiece::decode(std::span<const int> ids) const {
    std::string text;
    for (int id : ids) {
        const std::string& token = tokens.at(size_t(id));
        if (text.empty())
            text = token;
        else
            text += token.starts_with("##") ? token.substr(2) : " " + token;
    }
    return text;
}

}  // namespace babygpt
