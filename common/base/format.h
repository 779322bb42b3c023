// Text from values.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

namespace babygpt {

// printf into a string.
template <class... Values>
std::string format(const char* pattern, Values... values) {
    std::string text(size_t(std::snprintf(nullptr, 0, pattern, values...)), '\0');
    std::snprintf(text.data(), text.size() + 1, pattern, values...);
    return text;
}

// How many characters a UTF-8 text has: every byte begins one but those that continue it.
inline size_t utf8_length(std::string_view text) {
    size_t n = 0;
    for (char c : text) n += (c & 0xC0) != 0x80;
    return n;
}

// Text out of a file as it can stand in a message: on one line, and not long.
inline std::string brief(std::string text) {
    size_t most = 60;
    if (text.size() > most) {
        while (most && (text[most] & 0xC0) == 0x80) --most;  // not within a character
        text = text.substr(0, most) + "...";
    }
    for (char& c : text)
        if ((c >= 0 && c < ' ') || c == 0x7F) c = '?';
    return text;
}

}  // namespace babygpt
