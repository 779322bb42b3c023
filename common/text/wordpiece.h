// Between text and BERT's tokens, as Hugging Face's BertTokenizer: words in the longest pieces that a vocabulary has.
#pragma once
#include <map>

#include "common/text/tokenizer.h"

namespace babygpt {

class WordPiece : public Tokenizer {
  public:
    // Token i of a vocab.txt stands at its line i; ##ing is one that goes on with a word. Fails on a token that comes
    // twice, and if one of [PAD], [UNK], [CLS], [SEP] and [MASK] is missing.
    WordPiece(std::vector<std::string> vocabulary, bool to_lower_case, const std::string& file);

    // Without [CLS] and [SEP] around it. A special token that is written in the text, as in "a [MASK] kite", is one.
    // A word that cannot be cut becomes [UNK].
    std::vector<int> encode(std::string_view text, const std::string& name) const override;
    std::vector<int> encode_blanks(std::string_view text, const std::string& name) const override;
    std::string decode(std::span<const int> ids) const override;  // with a space between words, Chinese characters too

    bool lower_case;  // capitals and accents are not told from plain small letters

  private:
    void encode_words(std::u32string_view text, std::vector<int>& ids) const;
    void encode_word(std::u32string_view word, std::vector<int>& ids) const;

    using Ids = std::map<std::u32string, int, std::less<>>;
    Ids first, later;  // pieces that begin a word, and those that go on with it, without their ##
};

}  // namespace babygpt
