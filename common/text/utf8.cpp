#include "common/text/utf8.h"

#include <utf8.h>
#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "common/base/error.h"
#include "common/base/format.h"

namespace babygpt {

namespace {

// By its byte order mark, or by the many NULs that each character of English has there.
bool looks_like_utf16(std::string_view bytes) {
    return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF") ||
           size_t(std::count(bytes.begin(), bytes.end(), '\0')) > bytes.size() / 8;
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes, const std::string& name, bool keep_mark) {
    auto invalid = utf8::find_invalid(bytes.begin(), bytes.end());
    if (invalid != bytes.end()) {
        fail(name, " is not UTF-8: byte ", format("0x%02X", static_cast<unsigned char>(*invalid)), " at offset ",
             invalid - bytes.begin(), "; convert it first, for example with iconv -f ",
             looks_like_utf16(bytes) ? "UTF-16" : "LATIN1", " -t UTF-8");
    }
    std::u32string text;
    text.reserve(bytes.size());
    utf8::unchecked::utf8to32(bytes.begin(), bytes.end(), std::back_inserter(text));
    if (!keep_mark && text.starts_with(U'\uFEFF')) text.erase(0, 1);
    return text;
}

std::string encode_utf8(std::u32string_view text) {
    std::string bytes;
    utf8::unchecked::utf32to8(text.begin(), text.end(), std::back_inserter(bytes));
    return bytes;
}

std::string describe(char32_t character) {
    std::string code = format("U+%04X", unsigned(character));
    return is_control(character) ? code : "'" + encode_utf8({&character, 1}) + "' (" + code + ")";
}

bool is_control(char32_t character) { return character < 0x20 || (character >= 0x7f && character < 0xa0); }

int terminal_columns(std::string_view text) {
    int columns = 0;
    for (char32_t c : decode_utf8(text, "a text")) columns += utf8proc_charwidth(utf8proc_int32_t(c));
    return columns;
}

}  // namespace babygpt
