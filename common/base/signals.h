// Requests to come to an end: Ctrl-C, a batch system's SIGTERM, a closed terminal's SIGHUP.
#pragma once

namespace babygpt {

// From now on they only leave a note, but a second Ctrl-C ends the program at once.
void catch_signals();

// What cannot be written is an error to report, not a silent death: to a file that may not grow, and, for work that is
// worth more than its table, to a pipe without a reader.
void survive_full_files();
void survive_closed_pipes();

const char* interruption();  // "Ctrl-C", "SIGTERM" or "SIGHUP" when one has come, otherwise null

}  // namespace babygpt
