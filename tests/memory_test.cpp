// How much memory there is to have: the machine's, or less where a container says so.
#include <fstream>

#include "common/base/memory.h"
#include "tests/temporary.h"

using namespace babygpt;
namespace fs = std::filesystem;

namespace {

struct Machine {  // /proc and /sys/fs/cgroup as directories of its own
    TemporaryDirectory own;
    const fs::path& home = own.path;
    Machine() { put("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n"); }
    void put(const std::string& file, const std::string& text) const {
        fs::create_directories((home / file).parent_path());
        std::ofstream(home / file) << text;
    }
    size_t available() const { return available_memory(home / "proc", home / "cgroup"); }
};

}  // namespace

TEST_SUITE("memory") {
    TEST_CASE("available_memory: what the machine says, where there is no limit") {
        Machine machine;
        CHECK(machine.available() == 8000 * 1024);
        machine.put("proc/self/cgroup", "0::/\n");
        CHECK(machine.available() == 8000 * 1024);
        machine.put("cgroup/memory.max", "max\n");
        CHECK(machine.available() == 8000 * 1024);
    }

    TEST_CASE("available_memory: a container's limit (cgroup v2), of its own or of one above it") {
        Machine machine;
        machine.put("proc/self/cgroup", "0::/jobs/mine\n");
        machine.put("cgroup/jobs/mine/memory.max", "1000000\n");
        machine.put("cgroup/jobs/mine/memory.current", "600000\n");
        CHECK(machine.available() == 400000);
        machine.put("cgroup/jobs/mine/memory.stat", "anon 1\ninactive_file 100000\n");
        CHECK(machine.available() == 500000);  // cached files are given up when memory is wanted
        machine.put("cgroup/jobs/memory.max", "700000\n");
        machine.put("cgroup/jobs/memory.current", "699999\n");
        CHECK(machine.available() == 1);
        machine.put("cgroup/jobs/memory.current", "800000\n");
        CHECK(machine.available() == 0);
    }

    TEST_CASE("available_memory: a container's limit (cgroup v1), also where its path is the host's") {
        Machine machine;
        machine.put("proc/self/cgroup", "5:cpu:/\n4:hugetlb,memory:/docker/abc\n0::/\n");
        machine.put("cgroup/memory/memory.limit_in_bytes", "1000000\n");
        machine.put("cgroup/memory/memory.usage_in_bytes", "400000\n");
        CHECK(machine.available() == 600000);
        machine.put("cgroup/memory/docker/abc/memory.limit_in_bytes", "500000\n");
        machine.put("cgroup/memory/docker/abc/memory.usage_in_bytes", "0\n");
        CHECK(machine.available() == 500000);
    }

    TEST_CASE("require_memory: fails with what was wanted") {
        CHECK_NOTHROW(require_memory(1, "a test"));
        CHECK_THROWS_WITH(require_memory(SIZE_MAX / 2, "a test"), doctest::Contains("a test wants 9223372036.9 GB"));
    }
}
