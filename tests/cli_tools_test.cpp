// What stands around the stages: make and its scripts.
#include <nlohmann/json.hpp>

#include "tests/shell.h"

using namespace babygpt;

namespace {

// A copy of the project where make's compiler notes what it is asked for and makes programs that print their arguments.
class Project : public Shell {
  public:
    Project() {
        std::string here = std::filesystem::current_path().string();
        works(*this,
              "cp -r '" + here + "'/{Makefile,common,data,docs,stages,tests} .; mkdir -p build; touch build/.packages");
        write("cxx", R"(#!/bin/sh
[ "$1" != -dumpversion ] || exit
echo "$@" >>calls
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' >"$2"
chmod +x "$2"
)");
        works(*this,
              "chmod +x cxx; make() { env -u MAKEFLAGS -u MAKELEVEL make CXX=./cxx \"$@\"; }; declare -f make > make");
    }
    // A line with make in it.
    Result operator()(const std::string& line) const { return Shell::operator()(". ./make; " + line); }

    // What the compiler was asked for since the last time.
    std::string calls() const {
        std::string lines = read("calls");
        write("calls", "");
        return lines;
    }
};

}  // namespace

TEST_SUITE("command line") {
    TEST_CASE("the tests' own shell: a command works if it exits with 0 and has nothing to complain of") {
        CHECK(trouble({0, "out", ""}) == "");
        CHECK(trouble({0, "", "longest run also in the training text: 3 characters, \"the\"\n"}) == "");
        CHECK(trouble({3, "out", ""}) == "exit code 3");
        CHECK(trouble({0, "", "x.cpp:1: runtime error: shift\n"}) == "x.cpp:1: runtime error: shift");
        CHECK(trouble(Shell()("echo fine; echo no >&2")) == "no");
    }

    TEST_CASE("make experiment: its run goes to a directory of its own, unless it writes none" * with_programs()) {
        Project project;
        auto runs = [&](const std::string& name, const std::string& args, const std::string& expected) {
            Result result = project("make experiment NAME=" + name + " " + args + " | tail -n 1");
            INFO(args);
            CHECK(result.out == expected);
            CHECK(result.err == "");
        };
        runs("no_mask", "", "<train><--out><runs/no_mask>");
        runs("no_mask", "ARGS='--data sample.txt --prompt 11_kvcache'",
             "<train><--out><runs/no_mask><--data><sample.txt><--prompt><11_kvcache>");
        runs("no_mask", "ARGS='train --steps 5'", "<train><--out><runs/no_mask><--steps><5>");
        runs("no_mask", "ARGS='sample --tokens 5'", "<sample><--tokens><5>");
        runs("forgotten_place", "ARGS='--tokens 5'", "<--tokens><5>");
        runs("no_mask", R"(ARGS="--prompt \"it's\"")", "<train><--out><runs/no_mask><--prompt><it's>");
    }

    TEST_CASE("make hint: one hint more each time, and at the end where the answer is" * with_programs()) {
        Project project;
        auto hints = [&](const std::string& id) { return works(project, "make --no-print-directory hint N=" + id); };
        std::string first = hints("03a"), second = hints("03a"), third = hints("03a");
        CHECK(first.starts_with("1. "));
        CHECK(says(first, "(hint 1 of 3; make hint N=03a gives the next)"));
        CHECK(says(second, "\n2. "));
        CHECK(says(third, "\n3. "));
        CHECK(says(third, "the answer is docs/exercises/answers/03a_masked_fill.cpp)"));
        CHECK(hints("03a") == third);
        CHECK(hints("03b").starts_with("1. "));  // each exercise counts for itself
        CHECK(says(project("make hint N='.*'").out, "There is no exercise .*."));
    }

    TEST_CASE("make watch: checks at each save, and Ctrl-C ends it" * with_programs()) {
        Project project;
        std::string seen = works(project, R"(
env --default-signal=INT BUILD=build EXERCISE_CXX=./cxx EXERCISE_LIBS=none docs/exercises/run watch 03a > out & watch=$!
checked() { until [ -e out ] && [ $(grep -c right. out) = $1 ]; do sleep 0.1; done; }
checked 1; touch docs/exercises/03a_masked_fill.cpp
checked 2; cp docs/exercises/answers/03a_masked_fill.cpp new; mv new docs/exercises/03a_masked_fill.cpp
checked 3; kill -INT $watch; wait $watch; echo "ended with $?, compiled $(grep -c EXERCISE calls) times")");
        CHECK(seen == "ended with 0, compiled 3 times\n");
    }

    TEST_CASE("an open task: a copy of its stage, which is trained as the stage was and measured" * with_programs()) {
        Project project;
        project.write("cxx", R"(#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp trained "$2")");
        project.write("trained", R"(#!/bin/sh
echo "$@" > words; while [ "$1" != --out ]; do shift; done
mkdir -p "$2"; echo '{"best": {"val_loss": '$(cat loss)'}, "parameters": '$(cat parameters)'}' > "$2/run.json")");
        works(project, "chmod +x cxx trained");
        auto tried = [&](const std::string& loss, const std::string& parameters) {
            project.write("loss", loss), project.write("parameters", parameters);
            return project("BUILD=build EXERCISE_CXX=./cxx EXERCISE_LIBS=none docs/exercises/run one 04d");
        };
        works(project, "rm -rf docs/exercises/open");  // the reader may have some
        CHECK(says(tried("0", "0").out, "docs/exercises/open/04d.cpp is your copy of the stage"));
        CHECK(project.read("docs/exercises/open/04d.cpp") == project.read("stages/04_multihead.cpp"));
        Result far = tried("0.80", "21689");
        CHECK(far.code == 1);
        CHECK(says(far.out, "Its loss is 0.800, the target 0.650: 0.150 to go."));
        CHECK(says(project.read("words"), "--data tales --batch-size 32 --block-size 32 --steps 3000"));
        Result large = tried("0.6", "21690");
        CHECK(large.code == 1);
        CHECK(says(large.out, "It has 21,690 parameters, allowed are 21,689: 1 too many."));
        Result right = tried("0.6", "21689");
        CHECK(right.code == 0);
        CHECK(says(right.out, ": right.\n"));
        project.write("trained", "#!/bin/sh\necho no such thing >&2; exit 2");
        CHECK(says(tried("0", "0").out, "It did not train to its end: no such thing"));
        works(project, "mkdir -p docs/exercises/open; cp stages/03_head.cpp docs/exercises/open/02d.cpp");
        Result forbidden = project("BUILD=build EXERCISE_CXX=./cxx EXERCISE_LIBS=none docs/exercises/run one 02d");
        CHECK(says(forbidden.out, "The task is to do without this."));
    }

    TEST_CASE("make: ARGS is read as the shell reads a command line, once" * with_programs()) {
        Project project;
        auto runs = [&](const std::string& args) { return project("make run STAGE=03_head " + args + " | tail -n 1"); };
        CHECK(runs("ARGS=\"--steps 5\"").out == "<--steps><5>");
        CHECK(runs(R"(ARGS='--prompt "it'"'"'s" --stop "a  b"')").out == "<--prompt><it's><--stop><a  b>");
        CHECK(runs(R"(ARGS="--prompt 'say \"no\" for \$5 # \\'")").out == R"(<--prompt><say "no" for $5 # \>)");
        for (const char* target : {"run STAGE=03_head", "experiment NAME=no_mask"}) {
            Result open = project(std::string("make ") + target + " ARGS=\"--prompt it's\"");
            CHECK(open.code == 2);
            CHECK(open.err.starts_with("a quote in ARGS is not closed: --prompt it's\n"));
        }
    }

    TEST_CASE("make: other flags or another compiler build all again, the same ones nothing" * with_programs()) {
        Project project;
        auto built = [&](const std::string& words) {
            Result result = project("make " + words);
            CHECK_MESSAGE(result.code == 0, result.err);
            std::string calls = project.calls();
            return std::count(calls.begin(), calls.end(), '\n');
        };
        auto everything = built("all");
        CHECK(everything > 20);
        CHECK(built("all") == 0);
        for (const char* words : {"all PORTABLE=1", "all CXXFLAGS=-O0"}) {
            CAPTURE(words);
            CHECK(built(words) == everything);
            CHECK(built(words) == 0);
        }
        auto by_room = built("all BUILD=build/other EXTRA=-DX=\\'a\\'");
        CHECK(by_room > 20);
        CHECK(by_room < everything);
        CHECK(built("all BUILD=build/other EXTRA=-DX=\\'a\\'") == 0);
        CHECK(built("all CXXFLAGS=-O0") == 0);
        works(project, "cp cxx cxx2");
        CHECK(built("all CXXFLAGS=-O0 CXX=./cxx2") == everything);
    }

    TEST_CASE("make diff-NN: the stage against the one its first lines name, or the one before it" * with_programs()) {
        Project project;
        auto old = [&](const std::string& stage) {
            return works(project, "make -s diff-" + stage + " | sed -n '1s/\t.*//p'");
        };
        CHECK(old("04") == "--- stages/03_head.cpp\n");
        project.write("stages/98_more.cpp", "// Stage 98: more. And yet\n// more. New since 08: all of it.\n");
        project.write("stages/99_most.cpp", "// Stage 99: most.\n");
        CHECK(old("98") == "--- stages/08_layernorm.cpp\n");
        CHECK(old("99") == "--- stages/98_more.cpp\n");
        for (const char* wrong : {"0*", "0?", "00", "97", "%", "04_multihead", "';'", ""}) {
            CAPTURE(wrong);
            Result result = project(std::string("make \"diff-") + wrong + '"');
            CHECK(result.code == 2);
            CHECK(result.out == "");
            if (*wrong)
                CHECK(result.err.starts_with(
                    "make diff-NN shows what stage NN adds to the one it grew from; NN is 01 to 99\n"));
        }
    }

    TEST_CASE("a build says how far it is: in a line that moves, or in few where there is no terminal" *
              with_programs()) {
        Project project;
        std::string seen = works(project, "script -qec '. ./make; make run STAGE=03_head' /dev/null");
        std::string calls = project.calls();
        std::string total = std::to_string(std::count(calls.begin(), calls.end(), '\n'));
        CHECK(says(seen, "\033[K[1/" + total + "] "));  // which is the first, of two at a time, is up to chance
        CHECK(says(seen, "/" + total + "] stages/03_head.cpp\r"));
        CHECK(says(seen, "\033[K[" + total + "/" + total + "] build/03_head\r\033[K"));
        CHECK(project("make run STAGE=03_head").out == "<>");  // nothing to build, and the program runs
        CHECK(project("touch stages/03_head.cpp; make run STAGE=03_head").out == "[1/2] stages/03_head.cpp\n<>");
        Result broken = project("echo 'echo no >&2; exit 1' > cxx; touch stages/03_head.cpp; make run STAGE=03_head");
        CHECK(broken.code == 2);
        CHECK(broken.err.starts_with("no\n"));
    }

    TEST_CASE("an installation says how far it is, and what went wrong" * with_programs()) {
        Project project;
        project.write("apt-get", R"(#!/bin/sh
case "$*" in
    update) echo 'Get:1 http://deb lists'; echo 'Get:2 http://deb lists'; [ -z "$STALE" ] ;;
    *) echo '1 upgraded, 2 newly installed, 0 to remove and 0 not upgraded.'
       for p in a b c; do echo "Get:1 http://deb $p"; done
       for p in a b c; do echo "Unpacking $p ..."; done
       for p in a b c; do echo "Setting up $p ..."; done
       [ -z "$FAIL" ] || { echo 'E: no space left' >&2; exit 100; } ;;
esac
)");
        works(project, "echo 'exec \"$@\"' > sudo; echo 'exit 1' > dpkg-query; chmod +x apt-get sudo dpkg-query");
        const std::string install = "PATH=$PWD:$PATH tests/install a b";
        std::string seen = works(project, "script -qec '" + install + "' /dev/null");
        for (const char* words :
             {"installing a b ...", "downloading 2 lists of packages\r", "downloading 3 of 3 packages\r",
              "unpacking 3 of 3 packages\r", "setting up 1 of 3 packages\r", "setting up 3 of 3 packages\r\033[K"})
            CHECK_MESSAGE(says(seen, words), words);
        CHECK(works(project, install) == "installing a b ...\ndownloading 1 lists of packages\n");
        CHECK(project("STALE=1 " + install).code == 0);  // some lists could not be had
        Result failed = project("FAIL=1 " + install);
        CHECK(failed.code == 1);
        CHECK(failed.err.ends_with("E: no space left\ncould not install a b: see above; is there a network?\n"));
        works(project, "rm sudo; echo 'echo 1000' > id; chmod +x id; mkdir bin; ln -s $(which bash grep) bin");
        failed = project("PATH=$PWD:$PWD/bin tests/install a b");
        CHECK(failed.code == 1);
        CHECK(failed.err == "there is no sudo here; as root: apt-get install a b\n");
    }

    TEST_CASE("report: a field of another type, or what cannot be drawn, is refused" * with_programs()) {
        Shell shell;
        write_small_text(shell);
        works(shell, quick("02_position", 0) + " --data verses --out run; " + quick("00_counts") + " --out good");
        const std::string run = shell.read("run/run.json"), metrics = shell.read("run/metrics.csv");
        for (const char* path : {"/stage", "/sample", "/parameters", "/tokens_per_second", "/best", "/best/val_loss",
                                 "/baselines", "/baselines/uniform", "/baselines/floor", "/judged", "/judged/slots",
                                 "/options", "/options/batch_size", "/options/block_size"})
            for (const char* value : {"null", "true", "\"x\"", "[]", "{}", "-1e308", "5"}) {
                auto json = nlohmann::json::parse(run);
                auto& field = json[nlohmann::json::json_pointer(path)];
                auto wrong = nlohmann::json::parse(value);
                if (field.type() == wrong.type() || (field.is_number() && wrong == 5)) continue;
                field = wrong;
                shell.write("run/run.json", json.dump());
                INFO(path, " is ", value);
                refuses(shell, "report good run", "run/run.json is not one a run wrote");
            }
        shell.write("run/run.json", run);
        for (const char* row : {"rubbish", "", "0,1", "0,1,nan", "0,1,inf", "0,1,1e308", "1e308,1,1", "nan,1,1"}) {
            shell.write("run/metrics.csv", metrics + row + "\n");
            refuses(shell, "report good run", "line 3 of run/metrics.csv is not one a run wrote");
        }
        works(shell, "rm run/metrics.csv");
        refuses(shell, "report good run", "run/metrics.csv");
    }

    TEST_CASE("draw: a word too many, and numbers that no axis can hold, are refused" * with_programs()) {
        Shell shell;
        auto chart = [](const std::string& rows, const std::string& log = "") {
            return "printf 'x y\\n" + rows + "' | draw chart title across up " + log;
        };
        refuses(shell, chart("1 1\\n", "lin"), "usage: draw chart");
        refuses(shell, chart("1 1\\n", "log log"), "usage: draw chart");
        for (const char* wrong : {"inf", "-inf", "1e308", "-1e308", "1e999"}) {
            refuses(shell, chart("1 " + std::string(wrong) + "\\n"), "expected a number of at most 1e100, found \"");
            refuses(shell, chart(std::string(wrong) + " 1\\n"), wrong);
        }
        refuses(shell, chart("1 -1\\n"), "the axis begins at 0, found \"-1\" below it");
        for (const char* x : {"0", "-1", "1e-320"})
            refuses(shell, chart(x + std::string(" 1\\n"), "log"), "x has to be above 0 on a log axis, found \"");
    }

    TEST_CASE("draw: every picture is drawn inside its frame, and is XML" * with_programs()) {
        Shell shell;
        auto drawn = [&](const std::string& rows, const std::string& log) {
            return works(shell, "printf 'x y\\n" + rows + "' | draw chart title across up" + log);
        };
        for (const char* log : {"", " log"}) {
            CHECK(says(drawn("1e100 1e100\\n1e-99 1\\n", log), "M560.0 40.0L50.0 445.0"));
            CHECK(says(drawn("5 0\\n5 3\\n", log), "M50.0 445.0L50.0 40.0"));  // one above the other
            CHECK(says(drawn("1e17 0\\n100000000000000016 1e-320\\n", log), "M50.0 445.0L560.0 445.0"));
        }
        CHECK(says(drawn("-1e100 1\\n1e100 2\\n", ""), "M50.0 242.5L560.0 40.0"));
        std::string labels = works(shell, "printf '# \\a]]>\\n\\t\\033[1m\\nr\\377\\t0\\n' | draw heat $'a\\b&'");
        for (const char* words : {">\uFFFD]]&gt;<", ">\uFFFD[1m<", ">r\uFFFD<", ">a\uFFFD&amp;<"})
            CHECK(says(labels, words));
    }

    TEST_CASE("mechanisms: every drawing it names is drawn, and any other word is refused" * with_programs()) {
        Shell shell;
        Result none = shell("mechanisms nothing");
        CHECK(none.code == 2);
        std::istringstream names(none.err.substr(none.err.find("of:") + 3));
        const std::string head = "a b\\n0.5 0.5\\n", heads = "printf '" + head + head + head + head + "' | ";
        int drawn = 0;
        for (std::string name; names >> name; ++drawn) {
            INFO(name);
            std::string picture = works(shell, (name == "heads" ? heads : "") + "mechanisms " + name);
            CHECK(picture.starts_with("<svg "));
            CHECK(picture.ends_with("</svg>\n"));
            CHECK(!says(picture, "nan"));
            CHECK(says(picture, "prefers-color-scheme: dark"));
        }
        CHECK(drawn == 16);
        refuses(shell, "mechanisms", "name one drawing, of: cache");
        refuses(shell, "mechanisms heads </dev/null", "two lines for each of four heads");
        refuses(shell, "printf 'a b\\n1\\n' | mechanisms heads", "a weight for each character");
        CHECK(says(works(shell, "mechanisms tape"), "da = 4 + 1 = 5"));
        CHECK(says(works(shell, "mechanisms gather"), ">0.42<"));  // as lesson 03 has it
    }
}
