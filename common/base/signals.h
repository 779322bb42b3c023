// Requests to come to an end: Ctrl-C, a batch system's SIGTERM, a closed terminal's SIGHUP.
#pragma once

namespace babygpt {

// From now on they only leave a note, but a second Ctrl-C ends the program at once. And what cannot be written, to a
// pipe without a reader or a file that may not grow, is an error to report, not a silent death.
void catch_signals();

const char* interruption();  // "Ctrl-C", "SIGTERM" or "SIGHUP" when one has come, otherwise null

}  // namespace babygpt
