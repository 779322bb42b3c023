// Between characters and tokens: a token is a character's number.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace babygpt {

// The characters a model knows, sorted; a token is a character's place among them.
class Vocabulary {
  public:
    explicit Vocabulary(std::u32string_view text);  // all characters that occur
    int size() const { return int(characters.size()); }
    // Fails on characters it does not know, and says which.
    std::vector<int> encode(std::u32string_view text, const std::string& name) const;
    std::string decode(std::span<const int> tokens) const;

    std::u32string characters;
};

}  // namespace babygpt
