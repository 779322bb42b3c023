// The tables that 16 prints: what they say of each way to train is what was measured of that way.
#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "common/babygpt.h"
#include "tests/check.h"
#include "tests/shell.h"

#define main stage_main
namespace memory_table_test {
#include "stages/16_memory.cpp"
}
#undef main

using namespace babygpt;

namespace {

std::string printed_by(const std::function<void()>& f) {
    std::fflush(stdout);
    std::unique_ptr<FILE, int (*)(FILE*)> file(std::tmpfile(), std::fclose);
    REQUIRE(file);
    int screen = dup(STDOUT_FILENO);
    dup2(fileno(file.get()), STDOUT_FILENO);
    f();
    std::fflush(stdout);
    dup2(screen, STDOUT_FILENO), close(screen);
    std::rewind(file.get());
    std::string text;
    for (int c; (c = std::fgetc(file.get())) != EOF;) text += char(c);
    return text;
}

struct Way {
    double megabytes, of_memory, milliseconds, of_time;
};
std::istream& operator>>(std::istream& in, Way& way) {
    return in >> way.megabytes >> way.of_memory >> way.milliseconds >> way.of_time;
}

struct Row {
    std::string name;
    double megabytes, milliseconds;  // of the plain way
    Way checkpoint, chunk, both;
};

void check_shares(const Way& way, double megabytes, double milliseconds) {  // as far as their decimals go
    CHECK(std::abs(way.of_memory - way.megabytes / megabytes) < 0.006 + 0.01 / megabytes);
    CHECK(std::abs(way.of_time - way.milliseconds / milliseconds) < 0.006 + 0.05 * (1 + way.of_time) / milliseconds);
}

}  // namespace

TEST_CASE("16: each way stands below its name, with its share of the plain one: the table by sizes and the one by k" *
          doctest::skip(sanitized)) {
    Options narrow{.stage = "16_memory", .n_embd = 16, .n_head = 1, .n_layer = 1, .positions = "absolute"};
    char name[] = "16_memory", *argv[] = {name, nullptr};
    std::string text = printed_by([&] { measure_memory<memory_table_test::Model>(1, argv, narrow); });
    size_t headings =
        text.find("layers     plain             --checkpoint 1                --chunk 16                both\n");
    REQUIRE(headings != text.npos);
    std::istringstream said(text.substr(headings));
    std::string line;
    std::getline(said, line), std::getline(said, line);  // the second says MB and ms
    Row deepest;
    for (int layers : {4, 12, 32})
        for (int length : {64, 128, 256, 512}) {
            CAPTURE(layers);
            CAPTURE(length);
            Row row;
            said >> row.name >> row.megabytes >> row.milliseconds >> row.checkpoint >> row.chunk >> row.both;
            REQUIRE_FALSE(said.fail());
            CHECK(row.name == str(layers, "x", length));
            for (const Way& way : {row.checkpoint, row.chunk, row.both}) {
                CHECK(way.megabytes < row.megabytes);
                check_shares(way, row.megabytes, row.milliseconds);
            }
            CHECK(row.checkpoint.megabytes < row.chunk.megabytes);
            CHECK(row.both.megabytes <= row.checkpoint.megabytes);
            if (length == 64) CHECK(row.both.megabytes < row.checkpoint.megabytes);  // for long ones attention decides
            if (layers == 12) CHECK(row.checkpoint.of_memory <= 0.25);
            if (length == 64) deepest = row;
        }
    for (const char* word : {"32x64,", "--checkpoint", "k", "k", "MB", "ms"}) {
        said >> line;
        CHECK(line == word);
    }
    double before = INFINITY, plain_ms = 0;
    for (int k : {32, 16, 8, 4, 3, 2, 1}) {
        CAPTURE(k);
        int its = 0;
        Way way;
        said >> its >> way;
        REQUIRE_FALSE(said.fail());
        CHECK(its == k);
        if (k == 32) {
            plain_ms = way.milliseconds;
            CHECK(way.megabytes == deepest.megabytes);
            CHECK(way.of_memory == 1);
            CHECK(way.of_time == 1);
        }
        check_shares(way, deepest.megabytes, plain_ms);
        CHECK(way.megabytes < before);
        before = way.megabytes;
    }
    CHECK(before == deepest.checkpoint.megabytes);
    said >> line;
    CHECK(said.fail());  // that was all
}
