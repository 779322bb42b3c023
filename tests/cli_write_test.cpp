// What goes into the sample command and comes out of it: standard input in every form, bytes that are no text, control
// characters, and a system that gives no thread.
#include <algorithm>

#include "tests/shell.h"

using namespace babygpt;

TEST_SUITE("command line") {
    TEST_CASE("- is standard input as it is: a file read in part, a socket, nothing at all" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("02_position", 1));
        std::string sample = "02_position sample --tokens 0 --prompt -";
        shell.write("lines", "gone\nThe");
        CHECK(works(shell, "(read -r first; " + sample + ") < lines") == "The\n");
        shell.write("pair.py",
                    "import socket, subprocess, sys\n"
                    "here, there = socket.socketpair()\n"
                    "here.sendall(b'The')\n"
                    "here.close()\n"
                    "sys.exit(subprocess.run(sys.argv[1:], stdin=there).returncode)\n");
        CHECK(works(shell, "python3 pair.py " + sample) == "The\n");
        CHECK(works(shell, sample + " </dev/null") == "\n");
        refuses(shell, sample + " <&-", "cannot read standard input: Bad file descriptor");
        refuses(shell, sample + " <.", "cannot read standard input: Is a directory");
    }
}
