#include "common/write/display.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "common/text/utf8.h"

namespace babygpt {

std::vector<double> probabilities(std::span<const real> logits) {
    double highest = *std::max_element(logits.begin(), logits.end()), total = 0;
    std::vector<double> p;
    for (real z : logits) total += p.emplace_back(std::exp(z - highest));
    for (double& v : p) v /= total;
    return p;
}

std::vector<int> likeliest(const std::vector<double>& p, size_t most) {
    std::vector<int> order(p.size());
    std::iota(order.begin(), order.end(), 0);
    most = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(most), order.end(),
                      [&](int a, int b) { return p[size_t(a)] > p[size_t(b)]; });
    order.resize(most);
    return order;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string visible(const std::string& token) {
    if (token == " ") return "␣";
    char32_t character = token.size() == 1 ? char32_t(token[0]) : U' ', sign = 0x2400 + character;
    if (character == 0x7F) sign = U'␡';
    return character < U' ' || character == 0x7F ? encode_utf8({&sign, 1}) : token;
}

std::string shown(char32_t character, int width) {
    std::string text = is_control(character) ? describe(character) : encode_utf8({&character, 1});
    if (character == U'\n') text = "⏎";
    if (character == U'\t') text = "⇥";
    return text + std::string(size_t(std::max(0, width - terminal_columns(text))), ' ');
}

Display::Display(const Vocabulary& v, const Options& o)
    : vocabulary(v),
      show(o.show),
      colours(isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR")) {}

void Display::operator()(int token, std::span<const real> logits) const {
    char32_t character = vocabulary.characters[size_t(token)];
    if (show.empty()) {
        print(encode_utf8({&character, 1}));
    } else {
        std::vector<double> p = probabilities(logits);
        double surprise = -std::log(p[size_t(token)]);
        show == "surprise" ? show_surprise(character, surprise) : show_choices(character, surprise, p);
    }
    std::fflush(stdout);
}

void Display::show_surprise(char32_t character, double nats) const {
    if (!colours) {
        std::printf("%s %5.2f\n", shown(character, 2).c_str(), nats);
        return;
    }
    int warmth = int(std::min(5.0, nats));  // from green, expected, to red: less likely than 1 in e^5
    std::string text = character == U'\n' ? "\n" : shown(character);
    std::printf("\033[38;5;%dm%s\033[0m", 16 + 36 * warmth + 6 * (5 - warmth), text.c_str());
}

void Display::show_choices(char32_t character, double nats, const std::vector<double>& p) const {
    std::printf("%s %5.2f  |", shown(character, 2).c_str(), nats);
    for (int id : likeliest(p, 5))
        std::printf("  %s %3.0f%%", shown(vocabulary.characters[size_t(id)], 2).c_str(), 100 * p[size_t(id)]);
    std::printf("\n");
}

}  // namespace babygpt
