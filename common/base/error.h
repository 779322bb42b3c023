// Errors speak to the learner: what is wrong, which shapes or which character, what to do next.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace babygpt {

// Something the user can mend: main prints it as one line and exits with 2.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// str("loss ", 2.5, " at step ", 10) -> "loss 2.5 at step 10"
template <class... Parts>
std::string str(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
    throw Error(str(parts...));
}

void warn_once(const std::string& message);  // a line on stderr, the first time it is said

}  // namespace babygpt
