// What goes into the sample command and comes out of it: standard input in every form, bytes that are no text, control
// characters, and a system that gives no thread.
#include <algorithm>
#include <cstring>

#include "common/text/utf8.h"
#include "common/train/checkpoint.h"
#include "tests/shell.h"

using namespace babygpt;

namespace {

// Runs a command on a terminal of its own, types a line of standard input whenever it asks for one, and shows what the
// terminal showed; hangs up when there is nothing left to type.
const char* const terminal = R"(
import os, pty, sys
lines = sys.stdin.buffer.readlines()
child, screen = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b""
while lines or not shown.endswith(b"> "):
    try:
        shown += os.read(screen, 4096)
    except OSError:  # it has ended
        break
    if shown.endswith(b"> ") and lines:
        os.write(screen, lines.pop(0))
        shown += b"\n"
sys.stdout.buffer.write(shown)
)";

}  // namespace

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

    TEST_CASE("--interactive refuses what is no text in the words of --prompt, and asks again" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("02_position", 1));
        std::string sample = "02_position sample --tokens 0";
        for (const std::string bad : {"The\\xff", "The\\0re", "\\xc3", "\\0"}) {
            std::string words = shell("printf '" + bad + "' | " + sample + " --prompt -").err;
            CHECK(says(words, bad.find('x') != bad.npos ? "the prompt is not UTF-8" : "U+0000 at position"));
            words = words.substr(words.find("the prompt"));
            Result talk = shell("printf '" + bad + "\\nThe" + "' | " + sample + " --interactive");
            CHECK(talk.code == 0);
            CHECK_MESSAGE(says(talk.err, words), talk.err, " should say ", words);
            CHECK(says(talk.out, "The\n"));
        }
    }

    TEST_CASE("--interactive asks for prompts itself: one that is given, and a count, are refused" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        refuses(shell, "00_counts sample --data text --interactive --prompt The", "leave out --prompt");
        refuses(shell, "00_counts sample --data text --interactive --count 3", "leave out --count");
    }

    TEST_CASE("--interactive on a terminal: a line in any script, invalid bytes seen and refused" * with_programs()) {
        Shell shell;
        shell.write("text", "The \u00eb\u4f60\u597d The \u00eb\u4f60\u597d The The The The\n");
        works(shell, "00_counts --data text --tokens 0");
        shell.write("terminal.py", terminal);
        std::string sample = "python3 terminal.py 00_counts sample --data text --tokens 0 --interactive";
        std::string shown = works(shell, "printf 'The \u00eb\u4f60\\n' | " + sample);
        CHECK_MESSAGE(says(shown, "\nThe \u00eb\u4f60\r\n"), shown);
        shown = works(shell, "printf 'The\\xff\\nThe\\xc3\\nThe\\n' | " + sample);
        size_t refused = shown.find("does not know: '\uFFFD' (U+FFFD) at position 4");
        CHECK_MESSAGE(refused != shown.npos, shown);
        CHECK(shown.rfind("(U+FFFD) at position 4") > refused + 50);  // both times
        CHECK_MESSAGE(says(shown, "\nThe\r\n"), shown);
    }

    TEST_CASE("a sample with NUL and other control characters is written whole, and named by --show" *
              with_programs()) {
        Shell shell;
        shell.write("text", [] {
            std::string text;
            for (int i = 0; i < 200; ++i) text += std::string("a\0b\033", 4);
            return text;
        }());
        std::string sample = "00_counts sample --data text --tokens 40";
        std::string plain = works(shell, sample);
        CHECK(plain.size() == 41);
        CHECK(std::count(plain.begin(), plain.end(), '\0') == 10);
        CHECK(works(shell, "printf 'a\\0b' | " + sample + " --tokens 0 --prompt -") == std::string("a\0b\n", 4));
        CHECK(says(shell(sample).err, "U+0000"));  // the longest run also in the training text
        for (const std::string mode : {" --show surprise", " --show choices"}) {
            std::string shown = works(shell, sample + mode);
            CHECK_MESSAGE(says(shown, "U+0000 "), shown);
            CHECK(says(shown, "U+001B "));
            CHECK(shown.find('\0') == shown.npos);
        }
        shell.write("terminal.py", terminal);
        std::string coloured = works(shell, "python3 terminal.py " + sample + " --show surprise");
        CHECK_MESSAGE(says(coloured, "mU+0000\033[0m"), coloured);
        CHECK(says(coloured, "mU+001B\033[0m"));
    }

    TEST_CASE("--show surprise: what the model held to be impossible is as red as can be" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("02_position", 0) + " --out run");
        std::string model = shell.read("run/model.safetensors");  // its last numbers are lm_head's biases
        std::vector<float> biases(
            decode_utf8(load_metadata(shell.path("run/model.safetensors"))["vocabulary"], "").size(), -800);
        biases[1] = 0;
        std::memcpy(model.data() + model.size() - 4 * biases.size(), biases.data(), 4 * biases.size());
        shell.write("run/model.safetensors", model);
        shell.write("terminal.py", terminal);
        std::string shown = works(shell,
                                  "python3 terminal.py 02_position sample --model run --tokens 2000 "
                                  "--temperature 100 --top-k 0 --top-p 1 --show surprise");
        size_t red = 0, green = 0, all = 0;
        for (size_t at = 0; (at = shown.find("\033[38;5;", at)) != shown.npos; ++at) {
            ++all;
            red += shown.substr(at).starts_with("\033[38;5;196m");
            green += shown.substr(at).starts_with("\033[38;5;46m");
        }
        CHECK(all == 2000);
        CHECK(red > 0);
        CHECK(red + green == all);
    }

    TEST_CASE("sampling goes on with one thread where the system gives no second" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("03_head", 1));
        // The limit does not hold for root, so root becomes nobody.
        std::string limited = "$([ $(id -u) = 0 ] && echo setpriv --reuid=65534 --clear-groups) prlimit --nproc=1 ";
        if (shell(limited + "03_head --help").code != 0 || shell(limited + "sh -c '(:); :'").code == 0) {
            MESSAGE("not tested: this system does not let the number of threads be limited");
            return;
        }
        CHECK(works(shell, limited + "03_head sample --tokens 30") == works(shell, "03_head sample --tokens 30"));
    }
}
