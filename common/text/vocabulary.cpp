#include "common/text/vocabulary.h"

#include "common/base/error.h"
#include "common/text/utf8.h"

namespace babygpt {

Vocabulary::Vocabulary(std::u32string_view text) {
    std::vector<bool> seen(0x110000);
    for (char32_t c : text) seen[c] = true;
    for (char32_t c = 0; c < seen.size(); ++c)
        if (seen[c]) characters.push_back(c);
}

std::vector<int> Vocabulary::encode(std::u32string_view text, const std::string& name) const {
    std::vector<int> place(characters.empty() ? 1 : characters.back() + 1, -1), tokens;
    for (size_t i = 0; i < characters.size(); ++i) place[characters[i]] = int(i);
    tokens.reserve(text.size());
    std::vector<std::string> unknown;
    for (size_t i = 0; i < text.size(); ++i) {
        tokens.push_back(text[i] < place.size() ? place[text[i]] : -1);
        if (tokens.back() < 0 && unknown.size() < 5) unknown.push_back(describe(text[i]) + str(" at position ", i + 1));
    }
    if (unknown.empty()) return tokens;
    std::string list = unknown[0];
    for (size_t i = 1; i < unknown.size(); ++i) list += ", " + unknown[i];
    fail("the ", name, " has characters the model does not know: ", list, "; it knows the ", size(),
         " characters of the text it was trained on");
}

std::string Vocabulary::decode(std::span<const int> tokens) const {
    std::u32string text;
    for (int token : tokens) text.push_back(characters.at(size_t(token)));
    return encode_utf8(text);
}

}  // namespace babygpt
