#include "common/text/corpus.h"

#include "common/base/error.h"
#include "common/base/files.h"
#include "common/base/memory.h"
#include "common/text/utf8.h"

namespace babygpt {

namespace {

constexpr size_t built_in_bytes = 1'000'000;
constexpr size_t bytes_of_a_byte = 16;  // what a byte of text takes on its way to tokens, at most

const Grammar* grammar_of(const std::string& data) {
    return data == "tales" ? &tales() : data == "verses" ? &verses() : nullptr;
}

}  // namespace

uint64_t hash_of(std::string_view bytes) {  // FNV-1a
    uint64_t hash = 0xcbf29ce484222325;
    for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    return hash;
}

Corpus make_corpus(const std::string& name, std::string_view bytes) {
    std::u32string text = decode_utf8(bytes, name);
    if (text.empty()) fail(name, " is empty; give a text of some thousand characters");
    Vocabulary vocabulary(text);
    if (vocabulary.size() < 2)
        fail(name, " has only one distinct character, ", describe(text[0]), ": nothing to learn");
    std::vector<int> tokens = vocabulary.encode(text, name);
    auto cut = tokens.begin() + std::ptrdiff_t(tokens.size() * 9 / 10);
    return {name, std::move(vocabulary), {tokens.begin(), cut}, {cut, tokens.end()}, {}, nullptr, hash_of(bytes)};
}

std::string read_text(const std::string& data) {
    decode_utf8(data, "the file name in --data");  // it is written into the run's files, which are UTF-8
    if (data == "-") fail("--data - is no file; a run needs its text again when it is resumed, so save it first");
    if (const Grammar* grammar = grammar_of(data)) return grammar->write(built_in_seed, built_in_bytes).text;
    return read_file(data, available_memory() / bytes_of_a_byte);
}

Corpus load_corpus(const std::string& data) {
    const Grammar* grammar = grammar_of(data);
    if (!grammar) {
        Corpus corpus = make_corpus(data, read_text(data));
        if (corpus.val.size() < 2)  // the first has none before it to be guessed from
            fail(data, " has only ", corpus.train.size() + corpus.val.size(), " characters; give some thousand");
        return corpus;
    }
    Generated generated = grammar->write(built_in_seed, built_in_bytes);
    Corpus corpus = make_corpus(data, generated.text);
    corpus.judge = grammar;
    corpus.floor = generated.nats_per_char(corpus.train.size());
    return corpus;
}

}  // namespace babygpt
