// Where every program catches what was thrown.
#pragma once
#include <functional>
#include <string>

namespace babygpt {

// Runs f and turns what it throws into a line on stderr and an exit code: 2 for what the user can mend, or else 1.
int guarded(const std::string& name, const std::function<void()>& f);

}  // namespace babygpt
