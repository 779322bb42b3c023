// Between a text and BERT's tokens: special ones, then characters or pieces of words.
#pragma once
#include "common/text/vocabulary.h"

namespace babygpt {

// Numbers 0 to 4 of a vocabulary of characters; they may stand anywhere in one of pieces of words.
inline const std::vector<std::string> special_tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

class Tokenizer {
  public:
    virtual ~Tokenizer() = default;
    // A text's tokens, without special ones. Fails on characters that cannot be told, and says which.
    virtual std::vector<int> encode(std::string_view text, const std::string& name) const = 0;
    // The same, with [MASK] for each _.
    virtual std::vector<int> encode_blanks(std::string_view text, const std::string& name) const = 0;
    virtual std::string decode(std::span<const int> ids) const = 0;

    int size() const { return int(tokens.size()); }

    std::vector<std::string> tokens;  // what each number stands for, as vocab.txt has it
    int pad = 0, unk = 1, cls = 2, sep = 3, mask = 4;
};

// Every character is a token. The special ones come first; as they are no characters, no text holds one by accident.
class CharacterTokenizer : public Tokenizer {
  public:
    explicit CharacterTokenizer(const Vocabulary& characters);
    std::vector<int> encode(std::string_view text, const std::string& name) const override;
    std::vector<int> encode(const std::u32string& text, const std::string& name) const;
    std::vector<int> encode_blanks(std::string_view text, const std::string& name) const override;
    std::string decode(std::span<const int> ids) const override;

    Vocabulary characters;
};

}  // namespace babygpt
