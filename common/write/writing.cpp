#include "common/write/writing.h"

#include <editline/readline.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <iostream>
#include <memory>

#include "common/base/files.h"
#include "common/base/thread_pool.h"
#include "common/write/display.h"
#include "common/write/learnt_by_heart.h"

namespace babygpt {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void write_one(const NextLogits& next, const Vocabulary& vocabulary, const Options& options, int number,
               const std::optional<std::vector<int>>& training) {
    std::vector<int> tokens = prompt_tokens(vocabulary, options);
    size_t prompt = tokens.size();
    Rng rng(options.seed, "sampling", uint64_t(number));
    Display display(vocabulary, options);
    if (options.show.empty()) print(options.prompt);
    interrupted = 0;
    generate(next, tokens, vocabulary, options, rng, [&](int token, std::span<const real> logits) {
        display(token, logits);
        return !interrupted;
    });
    std::printf("\n");
    std::fflush(stdout);
    if (!training || tokens.size() == prompt) return;
    std::vector<int> run = longest_shared_run(std::span(tokens).subspan(prompt), *training);
    std::string text;
    for (int token : run) {
        char32_t character = vocabulary.characters[size_t(token)];
        text += character == U'\n' ? " " : shown(character);
    }
    std::fprintf(stderr, "longest run also in the training text: %zu characters, \"%s\"\n", run.size(), text.c_str());
}

// For libedit, which drops bytes that are not UTF-8 in silence: here they become the replacement character U+FFFD.
int read_character(std::FILE* in) {
    std::mbstate_t state{};
    for (bool first = true;; first = false) {
        int byte;
        do std::clearerr(in), byte = std::getc(in);
        while (byte == EOF && std::ferror(in) && errno == EINTR && !interrupted);  // a resized window is not the end
        if (byte == EOF) return EOF;
        wchar_t character;
        char piece = char(byte);
        size_t used = std::mbrtowc(&character, &piece, 1, &state);
        if (used == size_t(-2)) continue;  // the character is not complete
        if (used != size_t(-1)) return int(character);
        if (!first) std::ungetc(byte, in);  // it may begin the next character
        return 0xFFFD;
    }
}

// The next line of standard input; nothing at its end, or at Ctrl-C.
std::optional<std::string> next_line() {
    if (!isatty(STDIN_FILENO)) {
        std::string line;
        return read_line(line) ? std::optional(line) : std::nullopt;
    }
    rl_getc_function = read_character;
    std::unique_ptr<char, void (*)(void*)> line(readline("> "), std::free);
    if (!line) return {};
    if (*line) add_history(line.get());
    return line.get();
}

void converse(const NextLogits& next, const Vocabulary& vocabulary, Options options,
              const std::optional<std::vector<int>>& training) {
    std::setlocale(LC_CTYPE, "C.UTF-8");  // so that a line may hold any character
    std::fprintf(stderr, "a prompt a line; Ctrl-C stops a text, Ctrl-D leaves\n");
    struct sigaction stop = {};
    stop.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &stop, nullptr);
    for (int number = 0;; ++number) {
        interrupted = 0;
        std::optional<std::string> line = next_line();
        if (!line && interrupted) {  // Ctrl-C at the prompt: a new line
            std::cin.clear();
            std::printf("\n");
            continue;
        }
        if (!line) break;
        options.prompt = *line;
        try {
            write_one(next, vocabulary, options, number, training);
        } catch (const Error& error) {  // a character it does not know: say so, and ask again
            std::fprintf(stderr, "%s\n", error.what());
        }
    }
    std::printf("\n");
}

}  // namespace

void write_sample(const NextLogits& next, const Vocabulary& vocabulary, const Options& asked,
                  const std::optional<std::vector<int>>& training) {
    Options options = asked;
    if (!options.interactive && options.prompt == "-") {
        options.prompt = read_file("-");
        if (options.prompt.ends_with("\n")) options.prompt.pop_back();  // the one that echo adds
    }
    with_helper(thread_count(options), [&] {
        if (options.interactive) return converse(next, vocabulary, options, training);
        for (int i = 0; i < options.count; ++i) {
            if (i > 0) std::printf("\n---\n");
            write_one(next, vocabulary, options, i, training);
        }
    });
}

}  // namespace babygpt
