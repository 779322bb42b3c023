#include "common/text/corpus.h"

#include <utf8.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>

#include "common/base/format.h"
#include "common/tensor/pool.h"
#include "data/grammar.h"

namespace babygpt {

namespace {

constexpr size_t built_in_bytes = 1'000'000;
constexpr uint64_t built_in_seed = 1;
constexpr size_t bytes_of_a_byte = 16;  // what a byte of text takes on its way to tokens, at most

uint64_t fnv1a(std::string_view bytes) {
    uint64_t hash = 0xcbf29ce484222325;
    for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    return hash;
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes, const std::string& name, bool keep_mark) {
    auto invalid = utf8::find_invalid(bytes.begin(), bytes.end());
    if (invalid != bytes.end()) {
        fail(name, " is not UTF-8: byte ", format("0x%02X", static_cast<unsigned char>(*invalid)), " at offset ",
             invalid - bytes.begin(), "; convert it first, for example with iconv -f LATIN1 -t UTF-8");
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
    if (character < 0x20 || (character >= 0x7f && character < 0xa0)) return code;
    return "'" + encode_utf8({&character, 1}) + "' (" + code + ")";
}

Vocabulary::Vocabulary(std::u32string_view text) {
    std::vector<bool> seen(0x110000);
    for (char32_t c : text) seen[c] = true;
    for (char32_t c = 0; c < seen.size(); ++c)
        if (seen[c]) characters.push_back(c);
}

std::vector<int> Vocabulary::encode(std::u32string_view text, const std::string& name) const {
    std::vector<int> place(characters.empty() ? 1 : characters.back() + 1, -1), tokens;
    for (size_t i = 0; i < characters.size(); ++i) place[characters[i]] = int(i);
    tokens.reserve(text.size());
    std::vector<std::string> unknown;
    for (size_t i = 0; i < text.size(); ++i) {
        tokens.push_back(text[i] < place.size() ? place[text[i]] : -1);
        if (tokens.back() < 0 && unknown.size() < 5) unknown.push_back(describe(text[i]) + str(" at position ", i + 1));
    }
    if (unknown.empty()) return tokens;
    std::string list = unknown[0];
    for (size_t i = 1; i < unknown.size(); ++i) list += ", " + unknown[i];
    fail("the ", name, " has characters the model does not know: ", list, "; it knows the ", size(),
         " characters of the text it was trained on");
}

std::string Vocabulary::decode(std::span<const int> tokens) const {
    std::u32string text;
    for (int token : tokens) text.push_back(characters.at(size_t(token)));
    return encode_utf8(text);
}

std::string read_file(const std::string& path, size_t most) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) fail(path, " is a directory; give a file");
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path == "-" ? "/dev/stdin" : path.c_str(), "rb"),
                                                         std::fclose);
    if (!file) fail("cannot read ", path, ": ", std::strerror(errno));
    std::string bytes;
    constexpr size_t piece = size_t{1} << 20;
    for (size_t size = 0, got = piece; got > 0; bytes.resize(size += got)) {
        bytes.resize(size + piece);
        got = std::fread(bytes.data() + size, 1, piece, file.get());
        if (std::ferror(file.get())) fail("cannot read ", path, ": ", std::strerror(errno));
        if (size + got > most)
            fail("not enough memory: ", path, " has more than ", most / 1'000'000, " MB; cut a piece from it");
    }
    return bytes;
}

Corpus make_corpus(const std::string& name, std::string_view bytes) {
    std::u32string text = decode_utf8(bytes, name);
    if (text.empty()) fail(name, " is empty; give a text of some thousand characters");
    Vocabulary vocabulary(text);
    if (vocabulary.size() < 2)
        fail(name, " has only one distinct character, ", describe(text[0]), ": nothing to learn");
    std::vector<int> tokens = vocabulary.encode(text, name);
    auto cut = tokens.begin() + std::ptrdiff_t(tokens.size() * 9 / 10);
    return {name, std::move(vocabulary), {tokens.begin(), cut}, {cut, tokens.end()}, {}, nullptr, fnv1a(bytes)};
}

Corpus load_corpus(const std::string& data) {
    decode_utf8(data, "the file name in --data");  // it is written into the run's files, which are UTF-8
    if (data == "-") fail("--data - is no file; a run needs its text again when it is resumed, so save it first");
    if (data != "tales" && data != "verses") {
        Corpus corpus = make_corpus(data, read_file(data, available_memory() / bytes_of_a_byte));
        if (corpus.val.size() < 2)  // the first has none before it to be guessed from
            fail(data, " has only ", corpus.train.size() + corpus.val.size(), " characters; give some thousand");
        return corpus;
    }
    const Grammar& grammar = data == "tales" ? tales() : verses();
    Generated generated = grammar.write(built_in_seed, built_in_bytes);
    Corpus corpus = make_corpus(data, generated.text);
    corpus.judge = &grammar;
    corpus.floor = generated.nats_per_char(corpus.train.size());
    return corpus;
}

Batch random_batch(const std::vector<int>& tokens, int B, int T, Rng& rng) {
    if (tokens.size() <= size_t(T)) fail("a text of ", tokens.size(), " characters is too short for blocks of ", T);
    Batch batch{Tokens(B, T), Tokens(B, T)};
    for (int b = 0; b < B; ++b) {
        auto start = tokens.begin() + std::ptrdiff_t(rng.below(tokens.size() - size_t(T)));
        std::copy_n(start, T, batch.x.ids.begin() + std::ptrdiff_t(b) * T);
        std::copy_n(start + 1, T, batch.y.ids.begin() + std::ptrdiff_t(b) * T);
    }
    return batch;
}

}  // namespace babygpt
