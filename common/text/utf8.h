// Between bytes and characters. A character is a Unicode code point, so Chinese works as English does.
#pragma once
#include <string>
#include <string_view>

namespace babygpt {

// Drops a byte order mark at the start; fails at the first byte that is not UTF-8.
std::u32string decode_utf8(std::string_view bytes, const std::string& name);
std::string encode_utf8(std::u32string_view text);
std::string describe(char32_t character);  // for messages: 'é' (U+00E9)

}  // namespace babygpt
