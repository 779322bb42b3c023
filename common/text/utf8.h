// Between bytes and characters. A character is a Unicode code point, so Chinese works as English does.
#pragma once
#include <string>
#include <string_view>

namespace babygpt {

// Fails at the first byte that is not UTF-8. A byte order mark is no part of a text.
std::u32string decode_utf8(std::string_view bytes, const std::string& name, bool keep_mark = false);
std::string encode_utf8(std::u32string_view text);
std::string describe(char32_t character);  // for messages: 'é' (U+00E9)
bool is_control(char32_t character);
int terminal_columns(std::string_view text);  // that it takes: a Chinese character two, an accent none

}  // namespace babygpt
