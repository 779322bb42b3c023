#include "common/train/progress.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "common/base/error.h"
#include "common/base/format.h"
#include "common/train/ranks.h"

namespace babygpt {

using Clock = std::chrono::steady_clock;

Progress::Progress()
    : terminal(isatty(STDOUT_FILENO) && ranks::count() == 1),  // mpirun passes on lines
      shown(Clock::now()) {}

void Progress::print(std::string_view text) {
    errno = 0;
    bool good = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();  // it may hold a zero
    if (std::fflush(stdout) != 0) good = false;
    if (!good && !error) error = errno;
}

void Progress::say(std::string_view text) {
    if (live) print("\r\033[K");
    live = false;
    print(text);
}

bool Progress::live_is_due() const { return terminal && Clock::now() - shown > std::chrono::milliseconds(100); }

void Progress::show_live(const std::string& text) {
    print("\r\033[K" + text);
    live = true;
    shown = Clock::now();
}

void Progress::check() const {
    if (error) fail("cannot write to standard output: ", std::strerror(error));
}

std::string with_commas(double number) {
    std::string digits = std::to_string(std::llround(number));
    for (int i = int(digits.size()) - 3; i > 0; i -= 3) digits.insert(size_t(i), ",");
    return digits;
}

const char* const table_heading = "    step    train      val    chars/s";

std::string table_row(int step, double train, double val, double chars_per_second) {
    auto cell = [](double loss) { return format(loss < 1000 ? "%8.4f" : "%8.2e", loss); };
    return format("%8d %s %s %10s", step, cell(train).c_str(), cell(val).c_str(),
                  chars_per_second > 0 ? with_commas(chars_per_second).c_str() : "-");
}

}  // namespace babygpt
