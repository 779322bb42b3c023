#include "common/base/signals.h"

#include <signal.h>

#include <csignal>

namespace babygpt {

namespace {

volatile std::sig_atomic_t came = 0;

}  // namespace

void catch_signals() {
    struct sigaction note = {}, before = {};
    note.sa_handler = [](int signal) { came = signal; };
    note.sa_flags = SA_RESTART;  // these may come twice: timeout, for one, sends its signal to a group and its members
    sigaction(SIGTERM, &note, nullptr);
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &note, nullptr);  // nohup ignores it
    note.sa_flags |= SA_RESETHAND;
    sigaction(SIGINT, &note, nullptr);
}

void survive_full_files() { std::signal(SIGXFSZ, SIG_IGN); }
void survive_closed_pipes() { std::signal(SIGPIPE, SIG_IGN); }

const char* interruption() {
    switch (came) {
        case 0:
            return nullptr;
        case SIGINT:
            return "Ctrl-C";
        case SIGTERM:
            return "SIGTERM";
        default:
            return "SIGHUP";
    }
}

}  // namespace babygpt
