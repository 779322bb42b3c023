// The BLAS that products go to: asked from many threads at once, and what the programs do with a serial one.
#include <nlohmann/json.hpp>

#include "common/base/thread_pool.h"
#include "common/tensor/gemm.h"
#include "tests/check.h"
#include "tests/shell.h"

using namespace babygpt;

extern "C" char* openblas_get_corename();

TEST_SUITE("blas") {
#ifdef __x86_64__
    TEST_CASE("OpenBLAS takes the code for this processor, however new it is") {
        const char* chosen = std::getenv("OPENBLAS_CORETYPE");
        bool wanted = chosen && std::string(chosen) == "Prescott";
        if (__builtin_cpu_supports("avx2")) CHECK((std::string(openblas_get_corename()) == "Prescott") == wanted);
    }
#endif

    TEST_CASE("gemm: products on eight threads at once are the bytes of one thread") {
        constexpr size_t n = 48;  // large enough to go to BLAS, small enough for many calls
        std::vector<real> a = copy(random_tensor({n, n}, 1).values()), b = copy(random_tensor({n, n}, 2).values());
        auto product = [&] {
            std::vector<real> c(n * n);
            gemm(n, n, n, 1, {a.data(), n, true}, {b.data(), n}, 0, c.data(), n);
            return c;
        };
        std::vector<real> alone = product();
        std::atomic<int> wrong = 0;
        ThreadPool pool(8);
        pool.run([&](int) {
            for (int i = 0; i < 20000; ++i) wrong += !same_bytes(product(), alone);
        });
        CHECK(wrong == 0);
    }

    TEST_CASE("a serial OpenBLAS: the programs say so and compute on one thread, and products are right" *
              with_programs()) {
        Shell shell;
        write_small_text(shell);
        const std::string serial = "export LD_LIBRARY_PATH=$(echo /usr/lib/*/openblas-serial); ";
        REQUIRE_MESSAGE(shell("ls /usr/lib/*/openblas-serial/libopenblas.so.0").code == 0,
                        "the package libopenblas0-serial is missing; make test installs it");
        Result result = shell(serial + quick("03_head") + " --threads 2");
        CHECK(result.code == 0);
        CHECK(is_one_line(result.err));
        CHECK(says(result.err, "one thread"));
        CHECK(says(result.err, "libopenblas0-pthread"));
        auto json = nlohmann::json::parse(shell.read("runs/03_head/run.json"));
        CHECK(json["options"]["threads"] == 1);
        CHECK(says(works(shell, serial + "tests -tc='gemm: products on eight threads*'"), "1 passed"));
    }

    TEST_CASE("too little address space ends a run with a line, at once" * with_programs()) {
        if (sanitized) return;  // a sanitizer's own tables take more than that
        Shell shell;
        for (int kilobytes : {100'000, 200'000, 300'000, 400'000}) {
            CAPTURE(kilobytes);
            Result result = shell("ulimit -v " + std::to_string(kilobytes) +
                                  "; timeout 30 10_gpt --n-embd 192 --batch-size 64 --eval-batches 1 --threads 2");
            CHECK(result.code == 2);
            CHECK(is_one_line(result.err));
            CHECK(says(result.err, "not enough memory"));
        }
    }
}
