// What a terminal or a pipe sees of a run: plain lines, and below them, on a terminal, one that moves.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

namespace babygpt {

class Progress {
  public:
    Progress();

    void say(std::string_view text);  // in place of the live line
    bool live_is_due() const;         // on a terminal, ten times a second
    void show_live(const std::string& text);

    // Fails if something could not be printed. A run asks at its end: it goes on without a reader.
    void check() const;

  private:
    void print(std::string_view text);

    bool terminal, live = false;
    std::chrono::steady_clock::time_point shown;
    int error = 0;  // of the first output that failed
};

std::string with_commas(double number);                                              // 1,234,567
std::string table_row(int step, double train, double val, double chars_per_second);  // as wide as its heading
extern const char* const table_heading;

}  // namespace babygpt
