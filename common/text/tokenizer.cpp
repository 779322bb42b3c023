#include "common/text/tokenizer.h"

#include "common/text/utf8.h"

namespace babygpt {

namespace {

const std::vector<std::string> special{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

}  // namespace

CharacterTokenizer::CharacterTokenizer(const Vocabulary& v)
    : characters(v) {
    tokens = special;
    for (char32_t c : v.characters) tokens.push_back(encode_utf8({&c, 1}));
}

std::vector<int> CharacterTokenizer::encode(std::string_view text, const std::string& name) const {
    return encode(decode_utf8(text, "the " + name), name);
}

std::vector<int> CharacterTokenizer::encode(const std::u32string& text, const std::string& name) const {
    std::vector<int> ids = characters.encode(text, name);
    for (int& id : ids) id += int(special.size());
    return ids;
}

std::string CharacterTokenizer::decode(std::span<const int> ids) const {
    std::string text;
    for (int id : ids) text += tokens.at(size_t(id));
    return text;
}

}  // namespace babygpt
