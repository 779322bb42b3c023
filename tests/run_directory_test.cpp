// The directory of a run, as runs see it that begin in the same instant.
#include "common/train/run_directory.h"

#include <fstream>

#include "common/base/error.h"
#include "common/base/thread_pool.h"
#include "tests/temporary.h"

using namespace babygpt;

TEST_SUITE("run directory") {
    TEST_CASE("of two runs that begin in the same instant one has the directory, and the other hears of it") {
        TemporaryDirectory own;
        const std::string path = own.path / "run";
        ThreadPool pool(2);
        for (int round = 0; round < 1000; ++round) {
            std::filesystem::create_directory(path);
            std::ofstream(path + "/metrics.csv") << "step\n";
            NewDirectory made[2];
            std::string refused[2];
            pool.run([&](int worker) {
                try {
                    made[worker] = make_directory(path);
                } catch (const Error& error) {
                    refused[worker] = error.what();
                }
            });
            CAPTURE(round);
            REQUIRE(made[0].lock.held() != made[1].lock.held());
            int late = made[0].lock.held();
            REQUIRE(refused[1 - late].empty());
            REQUIRE_MESSAGE(refused[late].starts_with("another run is writing to "), refused[late]);
            REQUIRE(std::filesystem::exists(path + ".1/metrics.csv"));
            for (const char* each : {"", ".1"}) std::filesystem::remove_all(path + each);
        }
    }

    TEST_CASE("behind a link, as to another disk, the run is kept and the link stays") {
        TemporaryDirectory own;
        const std::string link = own.path / "link", real = own.path / "real";
        std::filesystem::create_directory(real);
        std::filesystem::create_directory_symlink(real, link);
        std::ofstream(link + "/metrics.csv") << "step\n";
        NewDirectory made = make_directory(link);
        CHECK(std::filesystem::is_symlink(link));
        CHECK(std::filesystem::is_empty(real));
        CHECK(std::filesystem::equivalent(made.kept, real + ".1"));
    }
}
