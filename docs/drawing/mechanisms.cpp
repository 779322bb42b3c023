// Draws how something works, as SVG: mechanisms NAME. What is computed in a drawing, the library computed.
#include <functional>
#include <iostream>
#include <map>

#include "common/app/guarded.h"
#include "common/base/error.h"
#include "common/tensor/ops.h"
#include "docs/drawing/shapes.h"

using namespace babygpt;

namespace {

std::string decimal(double x, int digits = 1) {
    std::string text = format("%.*f", digits, std::abs(x));
    return (x < 0 && text.find_first_not_of("0.") != text.npos ? "−" : "") + text;  // a minus is longer than a hyphen
}

// y = a * b + a on the tape, and the walk back.
std::string draw_tape() {
    Tensor a = Tensor::parameter({1}), b = Tensor::parameter({1});
    a.values()[0] = 3, b.values()[0] = 4;
    Tensor p = a * b, y = p + a;
    double va = a.item(), vb = b.item(), vp = p.item(), vy = y.item();
    y.backward();
    double da = a.grad()[0], db = b.grad()[0];
    if (da != vb + 1 || db != va) fail("the drawing of the tape adds up to other gradients than the tape");

    Drawing d("The tape of y = a · b + a, and the gradient's way back", 375);
    auto cell = [&](double x, double top, const char* name, double value, const std::string& gradient) {
        d.box(x, top, 150, 92);
        d.text(x + 75, top + 17, name);
        d.text(x + 75, top + 42, format("%g", value), kind::ink, "middle", 22, true);
        d.line(format("M%g %gh150", x, top + 61), kind::faint, 1, "2 3");
        d.text(x + 75, top + 77, gradient, kind::gradient, "middle", 15, true);
    };
    cell(20, 70, "a", va, format("da = %g + 1 = %g", vb, da)), cell(20, 270, "b", vb, format("db = %g", db));
    cell(320, 170, "p = a · b", vp, "dp = 1"), cell(600, 170, "y = p + a", vy, "dy = 1");
    d.arrow(170, 105, 318, 188), d.arrow(170, 327, 318, 244), d.arrow(470, 205, 598, 205);
    d.bend(170, 85, 300, 40, 640, 40, 650, 168);
    d.arrow(320, 212, 172, 140, kind::gradient), d.note(238, 192, format("dp · b = %g", vb), kind::gradient, "end");
    d.arrow(320, 224, 172, 292, kind::gradient), d.note(238, 240, format("dp · a = %g", va), kind::gradient, "end");
    d.arrow(600, 235, 472, 235, kind::gradient), d.note(536, 251, "dy = 1", kind::gradient);
    d.bend(700, 170, 700, 0, 120, -10, 95, 68, kind::gradient), d.note(400, 43, "dy = 1", kind::gradient);
    d.note(320, 310, "forward: each result remembers what it was made of", kind::ink, "start");
    d.note(320, 332, "back: each passes its gradient on,", kind::gradient, "start");
    d.note(320, 350, "and what arrives at a place is added up", kind::gradient, "start");
    return d.done();
}

struct Axes {
    double x0, y0, unit;  // where zero lies, and how long 1 is
    double x(double at) const { return x0 + unit * at; }
    double y(double at) const { return y0 - unit * at; }
};

std::string curve(const Axes& at, double from, double to, const std::function<double(double)>& f) {
    const int steps = 120;
    std::string path;
    for (int i = 0; i <= steps; ++i) {
        double x = from + (to - from) * i / steps;
        path += format("%s%.1f %.1f", i ? "L" : "M", at.x(x), at.y(f(x)));
    }
    return path;
}

double relu_of(double x) { return relu(Tensor({1}, {real(x)})).item(); }

std::string draw_relu() {
    Drawing d("The bend of ReLU, and a bump made of three bends", 330);
    auto frame = [&](const Axes& at, double from, double to, double low, double high) {
        d.line(format("M%.1f %.1fH%.1f", at.x(from), at.y0, at.x(to)), kind::faint, 1);
        d.line(format("M%.1f %.1fV%.1f", at.x0, at.y(low), at.y(high)), kind::faint, 1);
        for (int i = int(from); i <= int(to); ++i)
            if (i) d.note(at.x(i), at.y0 + 14, decimal(i, 0));
    };
    Axes left{190, 240, 50};
    d.text(190, 24, "one bend", kind::ink, "middle", 15, true);
    frame(left, -3, 3, -0.4, 3.2);
    d.line(curve(left, -3, 3, relu_of), kind::ink, 3);
    d.note(left.x(-1.6), 200, "below zero: 0,"), d.note(left.x(-1.6), 218, "the gradient stops", kind::gradient);
    d.note(left.x(1.25), 200, "above zero: x,", kind::faint, "start");
    d.note(left.x(1.25), 218, "the gradient passes", kind::gradient, "start");
    d.note(190, 312, "relu(x)", kind::ink);

    Axes right{450, 178, 62};
    d.text(570, 24, "three of them make a bump", kind::ink, "middle", 15, true);
    frame(right, -0.5, 4, -1.4, 2.2);
    struct Part {
        double weight, start;
        const char* name;
        double x, y;
    };
    const Part parts[] = {
        {1, 0, "relu(x)", 1.5, 1.85}, {-2, 1, "−2 relu(x − 1)", 3.35, -1.25}, {1, 2, "relu(x − 2)", 3.3, 1.65}};
    for (const Part& part : parts) {
        double end = part.start + 2 / std::abs(part.weight) - (part.weight < 0 ? 0.3 : 0);
        d.line(curve(right, -0.4, std::min(4.0, end), [&](double x) { return relu_of(x - part.start) * part.weight; }),
               kind::faint, 1.5, "5 4");
        d.note(right.x(part.x), right.y(part.y), part.name, kind::faint, "end");
    }
    auto sum = [&](double x) {
        double total = 0;
        for (const Part& part : parts) total += relu_of(x - part.start) * part.weight;
        return total;
    };
    d.line(curve(right, -0.4, 4, sum), kind::ink, 3);
    d.note(570, 312, "their sum: \"if x is near 1\"", kind::ink);
    return d.done();
}

std::string draw_residual() {
    Drawing d("The residual stream", 400);
    const double y = 165;
    const char* names[] = {"attention", "feed-forward", "attention", "feed-forward"};
    for (int block = 0; block < 2; ++block) {
        d.box(68 + 314 * block, 20, 304, 176, kind::faint, 0.05, 10);
        d.note(220 + 314 * block, 38, format("block %d", block), kind::faint);
    }
    d.line(format("M30 %gH716", y), kind::stream, 9);
    d.arrow(716, y, 742, y, kind::stream, 9);
    d.text(18, y, "x", kind::stream, "middle", 18, true);
    for (int i = 0; i < 4; ++i) {
        double x = 92 + 157 * i;
        d.bend(x - 4, y, x - 4, y - 34, x + 10, y - 30, x + 22, y - 52, kind::stream, 1.5);
        d.box(x, 62, 106, 48);
        d.text(x + 53, 86, names[i]);
        d.arrow(x + 106, 110, x + 117, y - 15, kind::ink, 1.5);
        d.plus(x + 120, y);
    }
    d.note(380, 212, "a block reads x and adds to it; x itself goes straight through", kind::stream);
    d.arrow(742, 262, 30, 262, kind::gradient, 4);
    d.note(380, 246, "one part of the gradient comes back as it was: dx = dy + …", kind::gradient);

    d.note(30, 300, "without it, as in stage 06:", kind::faint, "start");
    d.text(18, 345, "x", kind::ink, "middle", 18, true);
    for (int i = 0; i < 4; ++i) {
        double x = 72 + 157 * i;
        d.arrow(i ? x - 51 : 30, 345, x, 345);
        d.box(x, 321, 106, 48);
        d.text(x + 53, 345, names[i]);
    }
    d.arrow(649, 345, 742, 345);
    d.note(380, 388, "each replaces what it got, and gradients must go through all of them", kind::faint);
    return d.done();
}

std::string draw_layernorm() {
    const std::vector<real> x = {3, 6, -1, 4, 7, 0, 5, 0};
    auto stretched = x;
    for (real& number : stretched) number = 2 * number - 9;
    const Tensor gain({8}, std::vector<real>(8, 1)), bias({8}, std::vector<real>(8, 0));
    Drawing d("LayerNorm of the row of one place, twice", 480);
    const double unit = 11, bar = 20, lefts[] = {40, 300, 560};
    d.text(120, 20, "the row x", kind::stream, "middle", 15, true);
    d.text(380, 20, "minus its mean", kind::ink, "middle", 15, true);
    d.text(640, 20, "divided by its deviation", kind::ink, "middle", 15, true);
    for (int row = 0; row < 2; ++row) {
        const std::vector<real>& in = row ? stretched : x;
        double mean = 0, square = 0, zero = row ? 345 : 135;
        for (real number : in) mean += number / 8;
        for (real number : in) square += (number - mean) * (number - mean) / 8;
        Tensor y = layer_norm(Tensor({1, 8}, in), gain, bias);
        for (int panel = 0; panel < 3; ++panel) {
            double left = lefts[panel];
            for (size_t i = 0; i < 8; ++i) {
                double v = panel == 0 ? in[i] : panel == 1 ? in[i] - mean : y.values()[i];
                double at = left + bar * double(i);
                d.box(at + 2, zero - unit * std::max(v, 0.0), bar - 4, unit * std::abs(v),
                      panel ? kind::ink : kind::stream, 0.35, 1);
                d.text(at + bar / 2, zero + (v < 0 ? unit * -v + 9 : -unit * v - 9), decimal(v, panel == 2), kind::ink,
                       "middle", 10.5);
            }
            d.line(format("M%g %gh%g", left - 8, zero, 8 * bar + 16), kind::faint, 1);
            d.note(left - 12, zero, "0", kind::faint, "end");
        }
        d.line(format("M%g %.1fh%g", lefts[0] - 4, zero - unit * mean, 8 * bar + 8), kind::ink, 1.5, "5 3");
        d.note(lefts[0] + 8 * bar + 8, zero - unit * mean, "mean " + decimal(mean), kind::ink, "start");
        d.note(lefts[1] + 8 * bar + 8, zero - 36, "deviation", kind::faint, "start");
        d.note(lefts[1] + 8 * bar + 8, zero - 20, decimal(std::sqrt(square), 2), kind::faint, "start");
    }
    d.note(380, 222, "twice as large, and shifted by −9: the result is the same", kind::faint);
    return d.done();
}

// Head 1 of four, switched off and cut out: its rows of three matrices, and its columns of the fourth.
std::string draw_prune() {
    Drawing d("A head is switched off, or cut out", 470);
    const int gone = 1;
    const double size = 40, bands = 268, right = 548, top = 38;
    auto part = [&](int head, double x, double y, double w, double h, const char* of) {
        if (head != gone) return d.box(x, y, w, h, of, 0.15 + 0.12 * head, 2);
        d.line(format("M%g %gh%gv%gh%gz", x, y, w, h, -w), kind::gradient, 1.2, "4 3");
        for (double s = 9 - h; s < w; s += 9) {  // hatched, and not beyond the edges
            double from = std::max(0.0, -s), to = std::min(h, w - s);
            d.line(format("M%.1f %.1fL%.1f %.1f", x + s + from, y + from, x + s + to, y + to), kind::gradient, 0.7);
        }
    };
    struct Matrix {
        const char *name, *of;
        double x;
    };
    const Matrix matrices[] = {{"query", kind::query, 84}, {"key", kind::key, 204}, {"value", kind::value, 324}};
    for (const Matrix& matrix : matrices) d.text(matrix.x + 40, bands - 16, matrix.name, matrix.of, "middle", 15, true);
    d.text(right + 2 * size, top - 18, "output layer", kind::ink, "middle", 15, true);
    for (int head = 0; head < 4; ++head) {
        const double y = bands + size * head, middle = y + size / 2, column = right + size * head;
        const char* of = head == gone ? kind::gradient : kind::ink;
        d.text(20, middle, format("head %d", head), of, "start");
        for (const Matrix& matrix : matrices) {
            part(head, matrix.x, y, 80, size, matrix.of);
            part(head, matrix.x + 86, y, 10, size, matrix.of);
        }
        d.arrow(424, middle, 440, middle, of);
        d.box(442, middle - 14, 88, 28, of, 0.06, 4);
        d.note(486, middle, head == gone ? "weights · 0" : "weights · v", of);
        d.line(format("M530 %gH%g", middle, column + size / 2), of, 1.5, head == gone ? "4 3" : "none");
        d.arrow(column + size / 2, middle, column + size / 2, top + 4 * size + 38, of);
        part(head, column, top, size, 4 * size, kind::ink);
        d.box(column, top + 4 * size + 10, size, 26, head == gone ? of : kind::value,
              head == gone ? 0 : 0.15 + 0.12 * head, 2);
        if (head == gone) d.text(column + size / 2, top + 4 * size + 23, "0", of, "middle", 14, true);
    }
    d.arrow(right + 4 * size + 4, top + 2 * size, right + 4 * size + 30, top + 2 * size, kind::stream, 2);
    d.text(right + 4 * size + 41, top + 2 * size, "x", kind::stream, "middle", 18, true);
    d.note(right - 8, top + 4 * size + 23, "side by side", kind::faint, "end");
    d.note(244, bands + 4 * size + 20, "16 rows for each head, and 16 numbers of the bias", kind::faint);
    const char* words[] = {"switched off",
                           "All is computed. The weights of head 1 are multiplied by 0,",
                           "and zeros meet its columns of the output layer.",
                           "cut out",
                           "What is hatched goes: 16 rows of three matrices, with their",
                           "biases, and 16 columns of the output layer. x is the same."};
    for (int i = 0; i < 6; ++i)
        d.text(20, 26 + 24 * i + (i > 2 ? 14 : 0), words[i], i % 3 ? kind::ink : kind::gradient, "start", 14,
               i % 3 == 0);
    return d.done();
}

// Five layers: what is there at the end of the way forward, and step by step on the way back.
std::string draw_checkpoint() {
    Drawing d("What is kept on the way forward, and what is computed again on the way back", 535);
    const int n = 5;
    const double left = 176, wide = 102, tall = 28;
    auto x = [&](int layer) { return left + wide * (layer - 1); };
    auto input = [&](int layer, double y) {
        d.box(x(layer), y, 24, tall, kind::stream, 0.35, 3);
        d.note(x(layer) + 12, y + tall / 2, format("x%d", layer), kind::stream);
    };
    auto inside = [&](int layer, double y, bool again) {
        d.box(x(layer) + 28, y, 62, tall, again ? kind::key : kind::ink, again ? 0.4 : 0.15, 3);
        d.note(x(layer) + 59, y + tall / 2, format("inside %d", layer), kind::ink);
    };
    auto forward = [&](int from, int to, double y, const char* of) {
        d.arrow(x(from), y + tall + 8, x(to) + 90, y + tall + 8, of);
    };
    auto back = [&](int from, int to, double y) {
        d.arrow(x(from) + 90, y + tall + 16, x(to), y + tall + 16, kind::gradient);
    };
    auto about = [&](double y, const std::string& words, int insides) {
        d.text(16, y + tall / 2, words, kind::ink, "start", 14);
        d.text(706, y + tall / 2, format("%d", insides), kind::ink, "middle", 16, true);
    };
    d.text(16, 20, "plain", kind::ink, "start", 15, true);
    d.note(706, 20, "insides at once");
    about(40, "forward, then back", n);
    for (int layer = 1; layer <= n; ++layer) input(layer, 40), inside(layer, 40, false);
    forward(1, n, 40, kind::ink), back(n, 1, 40);
    d.line("M16 110H744", kind::faint, 1, "3 4");
    d.text(16, 132, "with checkpoints", kind::ink, "start", 15, true);
    for (int row = 0; row <= n; ++row) {
        const double y = 150 + 56 * row;
        const int layer = row ? n + 1 - row : n;  // that whose inside is there
        about(y, !row ? "forward" : row == 1 ? "back through 5" : format("%d again, and back", layer), 1);
        for (int i = 1; i <= layer; ++i) input(i, y);
        for (int i = 1; i < layer; ++i)  // forgotten
            d.line(format("M%g %gh62v%gh-62z", x(i) + 28, y, tall), kind::faint, 1, "3 3");
        inside(layer, y, row > 1);
        if (!row) forward(1, n, y, kind::ink);
        if (row > 1) forward(layer, layer, y, kind::key);
        if (row) back(layer, layer, y);
    }
    d.note(380, 505,
           "violet: the input of a layer.  Dashed: its inside was computed and forgotten.  Blue: computed again");
    d.note(380, 524,
           "to the right: the way forward.  Red, to the left: the gradient's way back, which needs the inside");
    return d.done();
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("mechanisms", [&] {
        const std::map<std::string, std::function<std::string()>> drawings = {{"tape", draw_tape},
                                                                              {"relu", draw_relu},
                                                                              {"residual", draw_residual},
                                                                              {"layernorm", draw_layernorm},
                                                                              {"tril", draw_tril},
                                                                              {"gather", draw_gather},
                                                                              {"heads", draw_heads},
                                                                              {"slices", draw_slices},
                                                                              {"cache", draw_cache},
                                                                              {"window", draw_window},
                                                                              {"distances", draw_distances},
                                                                              {"masks", draw_masks},
                                                                              {"embeddings", draw_embeddings},
                                                                              {"sources", draw_sources},
                                                                              {"prune", draw_prune},
                                                                              {"checkpoint", draw_checkpoint}};
        auto found = argc == 2 ? drawings.find(argv[1]) : drawings.end();
        if (found == drawings.end()) {
            std::string names;
            for (const auto& [name, draw] : drawings) names += " " + name;
            fail("name one drawing, of:", names);
        }
        std::cout << found->second();
    });
}
