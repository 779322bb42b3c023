// How attention works, in drawings: who looks at whom, heads, the cache, masks and distances.
#include <iostream>
#include <sstream>

#include "common/base/error.h"
#include "common/tensor/masks.h"
#include "common/tensor/ops.h"
#include "docs/drawing/shapes.h"

namespace babygpt {
namespace {

const std::string minus_infinity = "−∞";

std::string letter(const std::string& text, int at) {
    return text.at(size_t(at)) == ' ' ? "␣" : text.substr(size_t(at), 1);
}

// A field of squares; `cell` draws the one in a row and a column at its upper left corner.
template <class Cell>
void grid(double x, double y, int rows, int columns, double size, const Cell& cell) {
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) cell(i, j, x + size * j, y + size * i);
}

// A row of squares, as a vector of numbers.
void vector(Drawing& d, double x, double y, int n, double size, const char* of, double tint) {
    for (int i = 0; i < n; ++i) d.box(x + size * i, y, size, size, of, tint, 2);
}

}  // namespace

std::string draw_tril() {
    const std::string text = "kites.";
    const int T = 5;
    const Mask seen = tril(T);
    Drawing d("The causal mask: each place sees itself and what came before", 340);
    const double x = 230, y = 70, size = 46;
    d.note(x + size * T / 2, 18, "looked at", kind::key), d.note(112, y + size * T / 2 - 9, "this place", kind::query);
    d.note(112, y + size * T / 2 + 9, "looks", kind::query), d.note(590, 18, "and guesses");
    for (int i = 0; i < T; ++i) {
        double middle = y + size * (i + 0.5);
        d.text(x + size * (i + 0.5), 48, letter(text, i), kind::key, "middle", 20, true);
        d.text(x - 28, middle, letter(text, i), kind::query, "middle", 20, true);
        d.arrow(x + size * T + 16, middle, 562, middle, kind::faint);
        d.text(590, middle, letter(text, i + 1), kind::ink, "middle", 20, true);
    }
    grid(x, y, T, T, size, [&](int i, int j, double left, double top) {
        bool sees = seen.values[size_t(i * T + j)];
        d.box(left + 2, top + 2, size - 4, size - 4, sees ? kind::key : kind::faint, sees ? 0.25 : 0.04, 4);
        d.text(left + size / 2, top + size / 2, sees ? letter(text, j) : minus_infinity, sees ? kind::ink : kind::faint,
               "middle", sees ? 18 : 13);
    });
    d.note(380, y + size * T + 26, "below the diagonal and on it: seen.  Above it: the future, score −∞, weight 0",
           kind::faint);
    return d.done();
}

std::string draw_gather() {
    const int T = 4, place = 2;
    const Tensor q({1, T, 4}, {1, 1, 0, 0, 0, 2, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0});
    const Tensor k({1, T, 4}, {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 2, 2, 0, 0}), v({1, T, 1}, {10, 20, 30, 40});
    const Tensor scores = masked_fill(matmul(q, transpose(k)) / std::sqrt(4), !tril(T), -INFINITY);
    const Tensor weights = softmax(scores), result = matmul(weights, v);
    auto row = [&](const Tensor& t, int i) {
        std::string words;
        for (int j = 0; j < 4; ++j) words += (j ? " " : "") + format("%g", double(t.values()[size_t(i * 4 + j)]));
        return words;
    };
    Drawing d("One place gathers from the places it sees", 480);
    const double wide = 110, xs[] = {180, 320, 460, 600};
    auto middle = [&](int j) { return xs[j] + wide / 2; };
    const char* names[] = {"query", "key", "score", "weight", "value", "result"};
    const char* kinds[] = {kind::query, kind::key, kind::ink, kind::ink, kind::value, kind::value};
    const double ys[] = {64, 146, 200, 270, 344, 440};
    for (int i = 0; i < 6; ++i) d.text(24, ys[i], names[i], kinds[i], "start");
    d.note(24, 218, "q · k / √4", kind::faint, "start"), d.note(24, 288, "softmax", kind::faint, "start");
    d.note(24, 458, "sum of weight · value", kind::faint, "start");
    for (int j = 0; j < T; ++j) {
        bool sees = j <= place;
        const char* dim = sees ? nullptr : kind::faint;
        double score = scores.values()[size_t(place * T + j)], weight = weights.values()[size_t(place * T + j)];
        d.note(middle(j), 18, format("place %d", j), j == place ? kind::ink : kind::faint);
        d.box(xs[j], ys[1] - 18, wide, 36, dim ? dim : kind::key);
        d.text(middle(j), ys[1], row(k, j), dim ? dim : kind::key);
        d.text(middle(j), ys[2], sees ? format("%.0f", score) : minus_infinity, dim ? dim : kind::ink);
        double tall = 60 * weight;
        d.box(middle(j) - 22, ys[3] + 26 - tall, 44, tall, dim ? dim : kind::ink, 0.4, 1);
        d.text(middle(j), ys[3] + 14 - tall, format("%.2f", weight), dim ? dim : kind::ink);
        d.box(xs[j], ys[4] - 18, wide, 36, dim ? dim : kind::value);
        d.text(middle(j), ys[4], format("%g", double(v.values()[size_t(j)])), dim ? dim : kind::value);
        if (sees) {
            d.arrow(middle(place) + 14 * (j - place), ys[0] + 18, middle(j), ys[1] - 20, kind::query);
            d.bend(middle(j), ys[4] + 18, middle(j), ys[4] + 50, middle(place) + 18 * (j - place), ys[5] - 56,
                   middle(place) + 18 * (j - place), ys[5] - 20, kind::value, 1 + 10 * weight);
        }
    }
    d.note(middle(3), 64, "the future: hidden", kind::faint);
    d.box(xs[place], ys[0] - 18, wide, 36, kind::query), d.text(middle(place), ys[0], row(q, place), kind::query);
    d.box(xs[place], ys[5] - 18, wide, 36, kind::value, 0.25);
    d.text(middle(place), ys[5], format("%.1f", double(result.values()[size_t(place)])), kind::value, "middle", 16,
           true);
    return d.done();
}

// Reads, for each of four heads, a line of characters and a line with the weights that one place gives them.
std::string draw_heads() {
    Drawing d("Four heads look for themselves; their results lie side by side", 420);
    auto words = [] {
        std::string line;
        std::vector<std::string> all;
        if (!std::getline(std::cin, line))
            fail("heads: expected two lines for each of four heads: characters, weights");
        std::istringstream stream(line);
        for (std::string word; stream >> word;) all.push_back(word == "_" ? "␣" : word);
        return all;
    };
    const double size = 20, wide = 166;
    const double x = (Drawing::width - 16 * size) / 2;
    d.text(x - 18, 30, "x", kind::stream, "end", 18, true), vector(d, x, 20, 16, size, kind::stream, 0.2);
    d.text(x - 18, 376, "result", kind::value, "end");
    for (int h = 0; h < 4; ++h) {
        std::vector<std::string> letters = words(), weights = words();
        if (letters.size() != weights.size() || letters.empty()) fail("heads: a weight for each character, please");
        double left = 20 + 185 * h, middle = left + wide / 2, slice = x + 4 * size * h;
        d.arrow(slice + 2 * size, 42, middle, 98, kind::stream);
        d.box(left, 100, wide, 170, kind::ink, 0.06, 8);
        d.text(middle, 120, format("head %d", h));
        double step = (wide - 16) / double(letters.size());
        for (size_t j = 0; j < letters.size(); ++j) {
            double at = left + 8 + step * (double(j) + 0.5), weight = std::atof(weights[j].c_str());
            d.box(at - 9, 228 - 84 * weight, 18, 84 * weight, kind::ink, 0.4, 1);
            d.text(at, 248, letters[j], kind::ink, "middle", 17, weight > 0.5);
        }
        double tint = 0.15 + 0.2 * h;
        vector(d, middle - 2 * size, 290, 4, size, kind::value, tint);
        d.arrow(middle, 314, slice + 2 * size, 362, kind::value);
        vector(d, slice, 366, 4, size, kind::value, tint);
        d.note(slice + 2 * size, 402, format("head %d", h), kind::value);
    }
    return d.done();
}

std::string draw_slices() {
    const int T = 4, H = 4;
    Drawing d("The same numbers seen as two heads", 435);
    const double size = 18;
    auto slice = [&](double x, double y, int head, const char* of) {
        grid(x, y, T, H, size,
             [&](int, int, double left, double top) { d.box(left, top, size, size, of, head ? 0.5 : 0.15, 1); });
    };
    struct Part {
        const char *name, *of;
        double x;
    };
    for (const Part& part : {Part{"q", kind::query, 60}, Part{"k", kind::key, 310}, Part{"v", kind::value, 560}}) {
        d.text(part.x - 18, 76, part.name, part.of, "middle", 18, true);
        for (int head : {0, 1}) slice(part.x + size * H * head, 40, head, part.of);
        d.line(format("M%g 32v88", part.x + size * H), kind::ink, 2);
        d.note(part.x + size * H / 2, 22, "head 0", part.of), d.note(part.x + size * H * 1.5, 22, "head 1", part.of);
    }
    d.note(380, 138, "a row for each place; its 8 numbers seen as 2 heads of 4: nothing is moved");
    for (int head : {0, 1}) {
        double y = 176 + 110 * head, middle = y + size * 2;
        d.text(20, middle, format("head %d", head), kind::ink, "start");
        slice(100, y, head, kind::query), d.text(190, middle, "·"), slice(208, y, head, kind::key);
        d.note(272, y - 8, "T", kind::key, "end");
        d.arrow(296, middle, 340, middle, kind::ink);
        const Mask seen = tril(T);
        grid(352, y, T, T, size, [&](int i, int j, double left, double top) {
            d.box(left, top, size, size, kind::ink, seen.values[size_t(i * T + j)] ? 0.35 : 0.02, 1);
        });
        d.text(442, middle, "·"), slice(460, y, head, kind::value);
        d.arrow(548, middle, 592, middle, kind::value);
        grid(604 + size * H * head, 230, T, H, size, [&](int, int, double left, double top) {
            d.box(left, top, size, size, kind::value, head ? 0.5 : 0.15, 1);
        });
    }
    d.note(352 + size * 2, 400, "who looks at whom:"), d.note(352 + size * 2, 418, "(T, T) for each head");
    d.note(676, 400, "side by side again:"), d.note(676, 418, "(T, C), no concat");
    d.note(190, 400, "(T, H) by (H, T),"), d.note(190, 418, "for each head on its own");
    return d.done();
}

std::string draw_cache() {
    const std::string text = "At the";
    const int T = 6;
    Drawing d("One new character with a cache: its query meets all keys that were kept", 450);
    const double wide = 76, gap = 12, left = 150;
    auto x = [&](int j) { return left + (wide + gap) * j; };
    auto middle = [&](int j) { return x(j) + wide / 2; };
    const double fresh = x(T - 1);
    d.box(left - 10, 176, (wide + gap) * (T - 1) + 4, 126, kind::faint, 0.07, 10);
    d.note(24, 238, "kept: the cache", kind::faint, "start");
    d.note(middle(T - 1), 18, "new", kind::ink);
    d.text(24, 52, "character", kind::ink, "start"), d.text(24, 112, "query", kind::query, "start");
    d.text(24, 206, "key", kind::key, "start"), d.text(24, 270, "value", kind::value, "start");
    d.text(24, 382, "result", kind::value, "start");
    for (int j = 0; j < T; ++j) {
        bool last = j == T - 1;
        d.text(middle(j), 52, letter(text, j), last ? kind::ink : kind::faint, "middle", 20, true);
        d.box(x(j), 188, wide, 36, kind::key, last ? 0.45 : 0.15),
            d.box(x(j), 252, wide, 36, kind::value, last ? 0.45 : 0.15);
        d.arrow(middle(T - 1) - 5 * (T - 1 - j), 132, middle(j), 185, kind::query, 1.2);
        if (last)
            d.arrow(middle(j), 290, middle(j), 362, kind::value, 1.2);
        else
            d.bend(middle(j), 290, middle(j), 350, fresh - 60, 382, fresh - 2, 382, kind::value, 1.2);
        if (!last) d.note(middle(j), 112, "gone", kind::faint);
    }
    d.box(fresh, 94, wide, 36, kind::query, 0.45), d.box(fresh, 364, wide, 36, kind::value, 0.45);
    d.note(380, 430, "strong: computed in this step, one column; pale: kept", kind::faint);
    return d.done();
}

std::string draw_window() {
    const std::string text = "Rosa won a";
    const int block = 8;
    Drawing d("When the block is full, the window slides and every place changes", 300);
    const double size = 52, left = 190;
    auto window = [&](double y, int first, const char* about) {
        d.text(24, y + 26, about, kind::ink, "start"), d.text(24, y + 74, "its place", kind::faint, "start");
        for (int j = 0; j < block + 1; ++j) {
            double x = left + size * j;
            bool inside = j >= first && j < first + block;
            d.text(x + size / 2, y + 26, letter(text, j), inside ? kind::ink : kind::faint, "middle", 20, inside);
            if (!inside) continue;
            const char* of = first ? (j == block ? kind::key : kind::gradient) : kind::key;
            d.box(x + 3, y + 54, size - 6, 40, of, 0.2, 4);
            d.text(x + size / 2, y + 74, format("%d", j - first), of, "middle", 17, true);
        }
        d.line(format("M%g %gh%gv108h%gz", left + size * first - 2, y - 4, size * block + 4, -size * block - 4),
               kind::ink, 2);
    };
    window(20, 0, "block of 8, full");
    window(160, 1, "one character on");
    d.note(left + size * 4.5, 286,
           "red: each stands at another place than before, so none of the kept keys and values is right",
           kind::gradient);
    return d.done();
}

std::string draw_distances() {
    const int T = 6;
    Drawing d("Distances of query and key: every diagonal is one", 360);
    const double x = 190, y = 66, size = 44;
    d.note(x + size * T / 2, 18, "key at place", kind::key),
        d.note(90, y + size * T / 2, "query at place", kind::query);
    for (int i = 0; i < T; ++i) {
        d.text(x + size * (i + 0.5), 46, format("%d", i), kind::key, "middle", 17, true);
        d.text(x - 24, y + size * (i + 0.5), format("%d", i), kind::query, "middle", 17, true);
    }
    const int shown = 2;
    grid(x, y, T, T, size, [&](int i, int j, double left, double top) {
        int distance = i - j;
        bool back = distance >= 0, picked = distance == shown;
        d.box(left + 2, top + 2, size - 4, size - 4,
              picked ? kind::stream
              : back ? kind::ink
                     : kind::faint,
              picked ? 0.5
              : back ? 0.12
                     : 0.02,
              4);
        d.text(left + size / 2, top + size / 2, (back ? "" : "−") + format("%d", std::abs(distance)),
               back ? kind::ink : kind::faint, "middle", 16, picked);
    });
    const double far = x + size * T + 36;
    d.text(far, y + 30, "distance = query place − key place", kind::ink, "start", 14);
    vector(d, far, y + 100, 5, 20, kind::stream, 0.5);
    d.text(far, y + 140, "the vector of distance 2,", kind::stream, "start", 14);
    d.text(far, y + 160, "one for all pairs on its diagonal", kind::stream, "start", 14);
    d.note(far, y + 216, "faint: the future, which a GPT hides", kind::faint, "start");
    d.note(far, y + 234, "and BERT uses", kind::faint, "start");
    return d.done();
}

std::string draw_masks() {
    const int T = 6;
    const std::vector<Mask> masks = {tril(T), padding({4}, T), !Mask{{T, T}, std::vector<char>(size_t(T * T))}};
    const char* names[] = {"tril", "padding", "none"};
    const char* notes[] = {"a GPT: back only", "BERT: both ways, but no [PAD]", "BERT, if no row is padded"};
    const char* tokens[] = {"I", "d", "a", ".", "–", "–"};
    Drawing d("Who sees whom under three masks", 315);
    const double size = 29, y = 66;
    for (int m = 0; m < 3; ++m) {
        double x = 60 + 245 * m;
        d.text(x + size * T / 2, 18, names[m], kind::ink, "middle", 16, true);
        for (int i = 0; i < T; ++i) {
            const char* token = m == 1 || i < 4 ? tokens[i] : i == 4 ? "L" : "e";
            d.text(x + size * (i + 0.5), 48, token, kind::key),
                d.text(x - 16, y + size * (i + 0.5), token, kind::query);
        }
        grid(x, y, T, T, size, [&](int i, int j, double left, double top) {
            bool by_key = masks[size_t(m)].shape.size() == 4;  // the same for every query
            bool sees = masks[size_t(m)].values[size_t(by_key ? j : i * T + j)];
            d.box(left + 1.5, top + 1.5, size - 3, size - 3, sees ? kind::key : kind::faint, sees ? 0.4 : 0.03, 3);
        });
        d.note(x + size * T / 2, y + size * T + 22, notes[m]);
    }
    d.note(380, 296, "a row: who looks.  A column: who is looked at.  Filled: seen", kind::faint);
    return d.done();
}

std::string draw_embeddings() {
    const std::vector<std::string> tokens = {"[CLS]", "I", "d", "a", "[SEP]", "S", "o", ".", "[SEP]"};
    Drawing d("Three embeddings are added", 300);
    const double left = 200, wide = 60;
    const char* names[] = {"word_embeddings", "position_embeddings", "token_type_embeddings"};
    for (int row = 0; row < 3; ++row) {
        double y = 24 + 70 * row;
        d.text(16, y + 20, names[row], kind::ink, "start", 14);
        for (size_t j = 0; j < tokens.size(); ++j) {
            double x = left + wide * double(j);
            bool second = j > 4;
            d.box(x + 3, y, wide - 6, 40, kind::ink, row == 2 && second ? 0.4 : 0.12, 4);
            d.text(x + wide / 2, y + 20, row == 0 ? tokens[j] : format("%d", row == 1 ? int(j) : int(second)),
                   kind::ink, "middle", 15);
            d.text(x + wide / 2, y + 55, row < 2 ? "+" : "=", kind::faint, "middle", 17);
        }
    }
    d.text(16, 254, "x, after LayerNorm", kind::stream, "start", 14);
    for (size_t j = 0; j < tokens.size(); ++j)
        d.box(left + wide * double(j) + 3, 234, wide - 6, 40, kind::stream, 0.3, 4);
    d.note(left + wide * 4.5, 290, "a box is a vector of C numbers: a row of its table");
    return d.done();
}

std::string draw_sources() {
    Drawing d("Where the keys and values of a decoder come from", 330);
    auto strip = [&](double x, double y, int kept, int fresh, const char* of) {
        for (int i = 0; i < kept + fresh; ++i) d.box(x + 24 * i, y, 22, 26, of, i < kept ? 0.12 : 0.55, 3);
    };
    const double first = 215, later = 490;
    d.text(first + 100, 18, "first step", kind::ink, "middle", 15, true);
    d.text(later + 110, 18, "each later step", kind::ink, "middle", 15, true);
    d.line("M440 8V290", kind::faint, 1, "3 4");
    struct Row {
        const char *name, *note;
        double y;
        bool cross;
    };
    for (const Row& row : {Row{"self-attention", "looks at what was written", 60, false},
                           Row{"cross-attention", "looks at what was read", 185, true}}) {
        d.text(16, row.y + 30, row.name, kind::ink, "start"), d.note(16, row.y + 50, row.note, kind::faint, "start");
        int n = row.cross ? 7 : 1;
        for (auto [of, y] : {std::pair{kind::key, row.y}, {kind::value, row.y + 34}}) {
            strip(first, y, 0, n, of);
            strip(later, y, row.cross ? 7 : 4, row.cross ? 0 : 1, of);
        }
        d.note(first, row.y + 78, row.cross ? "of h: all that was read" : "of x: the first character", kind::faint,
               "start");
        d.note(later, row.y + 78, row.cross ? "what is kept; nothing is computed" : "what is kept, then of x: one more",
               kind::faint, "start");
    }
    d.note(380, 314, "blue: keys.  Green: values.  Strong: computed in this step.  Pale: kept");
    return d.done();
}

}  // namespace babygpt
