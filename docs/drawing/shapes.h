// Shapes for drawings of how something works, in one style. What a thing is gives it its colour, in every drawing.
#pragma once
#include "common/draw/svg.h"

namespace babygpt {

namespace kind {
inline const char *const ink = "", *const faint = "f", *const query = "q", *const key = "k", *const value = "v",
                         *const stream = "x", *const gradient = "d";
}

class Drawing {
  public:
    static constexpr double width = 760;

    Drawing(std::string about, double tall)
        : title(std::move(about)),
          height(tall) {}

    void box(double x, double y, double w, double h, const char* of = kind::ink, double tint = 0.12, double round = 6) {
        svg += format(
            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%g\" fill=\"currentColor\" "
            "fill-opacity=\"%.2f\" stroke=\"currentColor\" stroke-opacity=\"0.7\"/>\n",
            of, x, y, w, h, round, tint);
    }

    // Around the point, unless it is to start or to end there.
    void text(double x, double y, const std::string& words, const char* of = kind::ink, const char* anchor = "middle",
              double size = 15, bool bold = false) {
        svg += format("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%g\"%s>", of, x,
                      y + size * 0.35, anchor, size, bold ? " font-weight=\"bold\"" : "") +
               escaped(words) + "</text>\n";
    }
    void note(double x, double y, const std::string& words, const char* of = kind::faint,
              const char* anchor = "middle") {
        text(x, y, words, of, anchor, 13);
    }

    void line(const std::string& path, const char* of = kind::ink, double thick = 1.5, const char* dash = "none") {
        svg += "<path class=\"" + std::string(of) + "\" d=\"" + path +
               format("\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"%.1f\" stroke-dasharray=\"%s\"/>\n",
                      thick, dash);
    }

    void arrow(double x0, double y0, double x1, double y1, const char* of = kind::ink, double thick = 1.5) {
        bend(x0, y0, x0, y0, x0, y0, x1, y1, of, thick);
    }
    // An arrow along a cubic curve, which leaves towards (xa, ya) and arrives from (xb, yb).
    void bend(double x0, double y0, double xa, double ya, double xb, double yb, double x1, double y1,
              const char* of = kind::ink, double thick = 1.5) {
        double length = std::hypot(x1 - xb, y1 - yb), ux = (x1 - xb) / length, uy = (y1 - yb) / length;
        double head = 6 + 1.5 * thick, half = head * 0.45, xh = x1 - head * ux, yh = y1 - head * uy;
        line(format("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x0, y0, xa, ya, xb, yb, xh, yh), of, thick);
        svg += format("<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\"/>\n", of, x1, y1, xh - half * uy,
                      yh + half * ux, xh + half * uy, yh - half * ux);
    }

    void plus(double x, double y, double radius = 11) {
        svg += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" stroke=\"currentColor\" class=\"p\"/>\n", x, y, radius);
        text(x, y, "+", kind::ink, "middle", 17, true);
    }

    std::string done() const {
        return picture(width, height, title,
                       "<style>.p { fill: #fff } .f { color: #7a838d } .q { color: #b35900 } .k { color: #0969da } .v "
                       "{ color: #1a7f37 } "
                       ".x { color: #8250df } .d { color: #cf222e }\n"
                       "@media (prefers-color-scheme: dark) { .p { fill: #0d1117 } .q { color: #ffa657 } "
                       ".k { color: #58a6ff } .v { color: #3fb950 } .x { color: #bc8cff } .d { color: #ff7b72 } }"
                       "</style>\n" +
                           svg);
    }

  private:
    std::string title, svg;
    double height;
};

// What attention does; mechanisms.cpp has the others.
std::string draw_tril(), draw_gather(), draw_heads(), draw_slices(), draw_cache(), draw_window(), draw_distances(),
    draw_masks(), draw_embeddings(), draw_sources();

}  // namespace babygpt
