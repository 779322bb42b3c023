// printf into a string.
#pragma once
#include <cstdio>
#include <string>

namespace babygpt {

template <class... Values>
std::string format(const char* pattern, Values... values) {
    char text[512];
    std::snprintf(text, sizeof text, pattern, values...);
    return text;
}

}  // namespace babygpt
