#include "common/write/writing.h"

#include <editline/readline.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <map>

#include "common/base/thread_pool.h"

namespace babygpt {

namespace {

volatile std::sig_atomic_t interrupted = 0;

// A character as it can stand in a table: control characters by a sign, and padded to `width` columns (a Chinese one
// takes two).
std::string shown(char32_t character, int width) {
    std::string text = encode_utf8({&character, 1});
    int columns = wcwidth(wchar_t(character));
    if (character == U'\n') text = "⏎", columns = 1;
    if (character == U'\t') text = "⇥", columns = 1;
    if (columns < 0) text = describe(character), columns = int(text.size());
    return text + std::string(size_t(std::max(0, width - columns)), ' ');
}

std::vector<double> probabilities(std::span<const real> logits) {
    double highest = *std::max_element(logits.begin(), logits.end()), total = 0;
    std::vector<double> p;
    for (real z : logits) total += p.emplace_back(std::exp(z - highest));
    for (double& v : p) v /= total;
    return p;
}

// Shows one character as options.show asks: plain, coloured by the model's surprise, or with what else it thought
// likely.
class Display {
  public:
    Display(const Vocabulary& v, const Options& o)
        : vocabulary(v),
          show(o.show),
          colours(isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR")) {
        std::setlocale(LC_CTYPE, "C.UTF-8");  // for wcwidth
    }

    void operator()(int token, std::span<const real> logits) const {
        char32_t character = vocabulary.characters[size_t(token)];
        if (show.empty()) {
            std::fputs(encode_utf8({&character, 1}).c_str(), stdout);
        } else {
            std::vector<double> p = probabilities(logits);
            double surprise = -std::log(p[size_t(token)]);
            show == "surprise" ? show_surprise(character, surprise) : show_choices(character, surprise, p);
        }
        std::fflush(stdout);
    }

  private:
    void show_surprise(char32_t character, double nats) const {
        if (!colours) {
            std::printf("%s %5.2f\n", shown(character, 2).c_str(), nats);
            return;
        }
        int warmth = std::min(5, int(nats));  // from green, expected, to red: less likely than 1 in e^5
        std::printf("\033[38;5;%dm%s\033[0m", 16 + 36 * warmth + 6 * (5 - warmth),
                    encode_utf8({&character, 1}).c_str());
    }

    void show_choices(char32_t character, double nats, const std::vector<double>& p) const {
        std::vector<int> order(p.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = int(i);
        size_t best = std::min<size_t>(5, order.size());
        std::partial_sort(order.begin(), order.begin() + long(best), order.end(),
                          [&](int a, int b) { return p[size_t(a)] > p[size_t(b)]; });
        std::printf("%s %5.2f  |", shown(character, 2).c_str(), nats);
        for (size_t i = 0; i < best; ++i)
            std::printf("  %s %3.0f%%", shown(vocabulary.characters[size_t(order[i])], 2).c_str(),
                        100 * p[size_t(order[i])]);
        std::printf("\n");
    }

    const Vocabulary& vocabulary;
    std::string show;
    bool colours;
};

void write_one(const NextLogits& next, const Vocabulary& vocabulary, const Options& options, int number,
               const std::optional<std::vector<int>>& training) {
    std::vector<int> tokens = prompt_tokens(vocabulary, options);
    size_t prompt = tokens.size();
    Rng rng(options.seed, "sampling", uint64_t(number));
    Display display(vocabulary, options);
    if (options.show.empty()) std::fputs(options.prompt.c_str(), stdout);
    interrupted = 0;
    generate(next, tokens, vocabulary, options, rng, [&](int token, std::span<const real> logits) {
        display(token, logits);
        return !interrupted;
    });
    std::printf("\n");
    std::fflush(stdout);
    if (!training || tokens.size() == prompt) return;
    std::vector<int> run = longest_shared_run(std::span(tokens).subspan(prompt), *training);
    std::string text = vocabulary.decode(run);
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::fprintf(stderr, "longest run also in the training text: %zu characters, \"%s\"\n", run.size(), text.c_str());
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
        char* line = readline("> ");
        if (!line && interrupted) {  // Ctrl-C at the prompt: a new line
            std::printf("\n");
            continue;
        }
        if (!line) break;
        options.prompt = line;
        std::free(line);
        if (!options.prompt.empty()) add_history(options.prompt.c_str());
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
    Team team(std::min(2, thread_count(options)));
    team.run([&](int worker) {
        if (worker > 0) return;  // it helps with the products
        if (options.interactive) return converse(next, vocabulary, options, training);
        for (int i = 0; i < options.count; ++i) {
            if (i > 0) std::printf("\n---\n");
            write_one(next, vocabulary, options, i, training);
        }
    });
}

// A suffix automaton of the sample: its states stand for sets of the sample's substrings, so that the text can be read
// once, always knowing the longest piece of the sample that ends here.
std::vector<int> longest_shared_run(std::span<const int> sample, std::span<const int> text) {
    struct State {
        int length, link;
        std::map<int, int> next;
    };
    std::vector<State> states{{0, -1, {}}};
    int last = 0;
    for (int token : sample) {
        int added = int(states.size()), p = last;
        states.push_back({states[size_t(last)].length + 1, 0, {}});
        for (; p >= 0 && !states[size_t(p)].next.count(token); p = states[size_t(p)].link)
            states[size_t(p)].next[token] = added;
        if (p >= 0) {
            int q = states[size_t(p)].next[token];
            if (states[size_t(p)].length + 1 == states[size_t(q)].length) {
                states[size_t(added)].link = q;
            } else {
                int copy = int(states.size());
                states.push_back({states[size_t(p)].length + 1, states[size_t(q)].link, states[size_t(q)].next});
                for (; p >= 0 && states[size_t(p)].next[token] == q; p = states[size_t(p)].link)
                    states[size_t(p)].next[token] = copy;
                states[size_t(q)].link = states[size_t(added)].link = copy;
            }
        }
        last = added;
    }
    int state = 0;
    size_t length = 0, best = 0, end = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        while (state > 0 && !states[size_t(state)].next.count(text[i])) {
            state = states[size_t(state)].link;
            length = size_t(states[size_t(state)].length);
        }
        auto found = states[size_t(state)].next.find(text[i]);
        if (found == states[size_t(state)].next.end()) continue;
        state = found->second, ++length;
        if (length > best) best = length, end = i + 1;
    }
    return {text.begin() + std::ptrdiff_t(end - best), text.begin() + std::ptrdiff_t(end)};
}

}  // namespace babygpt
