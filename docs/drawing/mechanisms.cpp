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

// y = a * a + a on the tape, and the walk back.
std::string draw_tape() {
    Tensor a = Tensor::parameter({1});
    a.values()[0] = 3;
    Tensor p = a * a, y = p + a;
    double va = a.item(), vp = p.item(), vy = y.item();
    y.backward();
    double dp = 1, from_product = dp * va, da = a.grad()[0];
    if (da != 2 * from_product + 1) fail("the drawing of the tape adds up to another gradient than the tape");

    Drawing d("The tape of y = a · a + a, and the gradient's way back", 360);
    struct Cell {
        double x;
        const char* name;
        double value;
        std::string gradient;
    };
    const double wide = 180, top = 110, tall = 130;
    for (const Cell& cell : {Cell{20, "a", va, format("da = %g + %g + 1 = %g", from_product, from_product, da)},
                             Cell{290, "p = a · a", vp, format("dp = %g", dp)}, Cell{560, "y = p + a", vy, "dy = 1"}}) {
        d.box(cell.x, top, wide, tall);
        d.text(cell.x + wide / 2, top + 26, cell.name);
        d.text(cell.x + wide / 2, top + 58, format("%g", cell.value), kind::ink, "middle", 24, true);
        d.line(format("M%g %gh%g", cell.x, top + 84, wide), kind::faint, 1, "2 3");
        d.text(cell.x + wide / 2, top + 107, cell.gradient, kind::gradient, "middle", 15, true);
    }
    d.arrow(200, 138, 288, 138), d.arrow(200, 156, 288, 156), d.arrow(470, 147, 558, 147);
    d.bend(110, top, 110, 40, 650, 40, 650, top - 1);
    d.note(380, 44, "computing: who was made from whom", kind::ink);
    for (double row : {203.0, 231.0}) {
        d.arrow(290, row, 202, row, kind::gradient);
        d.note(245, row - 10, format("dp · a = %g", from_product), kind::gradient);
    }
    d.arrow(560, 217, 472, 217, kind::gradient), d.note(515, 207, "dy = 1", kind::gradient);
    d.bend(650, top + tall, 650, 330, 110, 330, 110, top + tall + 1, kind::gradient);
    d.note(380, 294, "dy = 1", kind::gradient);
    d.note(380, 324, "walking back: each step passes its gradient on; what arrives is added up", kind::gradient);
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
        d.line(format("M%g %.1fh%g", lefts[0] - 4, zero - unit * mean, 8 * bar + 8), kind::gradient, 1.5, "5 3");
        d.note(lefts[0] + 8 * bar + 8, zero - unit * mean, "mean " + decimal(mean), kind::gradient, "start");
        d.note(lefts[1] + 8 * bar + 8, zero - 36, "deviation", kind::faint, "start");
        d.note(lefts[1] + 8 * bar + 8, zero - 20, decimal(std::sqrt(square), 2), kind::faint, "start");
    }
    d.note(380, 222, "twice as large, and shifted by −9: the result is the same", kind::faint);
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
                                                                              {"sources", draw_sources}};
        auto found = argc == 2 ? drawings.find(argv[1]) : drawings.end();
        if (found == drawings.end()) {
            std::string names;
            for (const auto& [name, draw] : drawings) names += " " + name;
            fail("name one drawing, of:", names);
        }
        std::cout << found->second();
    });
}
