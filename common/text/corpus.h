// From a text to numbers and batches. A token is a character: a Unicode code point, so Chinese works as English does.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "common/base/rng.h"
#include "common/tensor/ops.h"

namespace babygpt {

class Grammar;

// Fails at the first byte that is not UTF-8. A byte order mark is no part of a text.
std::u32string decode_utf8(std::string_view bytes, const std::string& name, bool keep_mark = false);
std::string encode_utf8(std::u32string_view text);
std::string describe(char32_t character);  // for messages: 'é' (U+00E9)

// The characters a model knows, sorted; a token is a character's place among them.
class Vocabulary {
  public:
    explicit Vocabulary(std::u32string_view text);  // all characters that occur
    int size() const { return int(characters.size()); }
    std::vector<int> encode(std::u32string_view text,
                            const std::string& name) const;  // fails on characters it does not know
    std::string decode(std::span<const int> tokens) const;

    std::u32string characters;
};

struct Corpus {
    std::string name;  // "tales", "verses" or the file's
    Vocabulary vocabulary;
    std::vector<int> train, val;  // the first 90 % and the last 10 %
    std::optional<double> floor;  // of val, in nats per character, where it is known
    const Grammar* judge;         // of what a model writes, where there is one
    uint64_t hash;                // of the text, to know it again
};

Corpus load_corpus(const std::string& data);  // a built-in corpus by its name, or a UTF-8 file
Corpus make_corpus(const std::string& name, std::string_view bytes);
// "-" is standard input. Fails on a file of more bytes than `most`.
std::string read_file(const std::string& path, size_t most = SIZE_MAX);

struct Batch {
    Tokens x, y;  // (B, T) each; y is x one step later: the character to be guessed at each place
};
Batch random_batch(const std::vector<int>& tokens, int B, int T, Rng& rng);

}  // namespace babygpt
