#include "common/text/tokenizer.h"

#include <algorithm>

#include "common/text/utf8.h"

namespace babygpt {

CharacterTokenizer::CharacterTokenizer(const Vocabulary& v)
    : characters(v) {
    tokens = special_tokens;
    for (char32_t c : v.characters) tokens.push_back(encode_utf8({&c, 1}));
}

std::vector<int> CharacterTokenizer::encode(std::string_view text, const std::string& name) const {
    return encode(decode_utf8(text, "the " + name), name);
}

std::vector<int> CharacterTokenizer::encode(const std::u32string& text, const std::string& name) const {
    std::vector<int> ids = characters.encode(text, name);
    for (int& id : ids) id += int(special_tokens.size());
    return ids;
}

std::vector<int> CharacterTokenizer::encode_blanks(std::string_view text, const std::string& name) const {
    std::u32string whole = decode_utf8(text, "the " + name), known = whole;
    std::ranges::replace(known, U'_', characters.characters[0]);  // any that the model knows
    std::vector<int> ids = encode(known, name);
    for (size_t i = 0; i < whole.size(); ++i)
        if (whole[i] == U'_') ids[i] = mask;
    return ids;
}

std::string CharacterTokenizer::decode(std::span<const int> ids) const {
    std::string text;
    for (int id : ids) text += tokens.at(size_t(id));
    return text;
}

}  // namespace babygpt
