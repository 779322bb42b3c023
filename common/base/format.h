// Text from values.
#pragma once
#include <cstdio>
#include <string>

namespace babygpt {

// printf into a string.
template <class... Values>
std::string format(const char* pattern, Values... values) {
    std::string text(size_t(std::snprintf(nullptr, 0, pattern, values...)), '\0');
    std::snprintf(text.data(), text.size() + 1, pattern, values...);
    return text;
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
