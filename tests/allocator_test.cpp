// The memory of arrays: what is counted, on one thread and on several.
#include "common/tensor/allocator.h"

#include <thread>

#include "common/tensor/ops.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

size_t bytes(size_t numbers) { return numbers * sizeof(real); }

}  // namespace

TEST_SUITE("allocator") {
    TEST_CASE("live_bytes and peak_bytes: arrays count while they live, and the peak is the most at once") {
        reset_peak();
        size_t before = live_bytes();
        CHECK(peak_bytes() == before);
        {
            Tensor a = Tensor::zeros({10, 100}), same = a;
            CHECK(live_bytes() == before + bytes(1000));
            { Tensor b = Tensor::zeros({2000}); }
            CHECK(live_bytes() == before + bytes(1000));
        }
        CHECK(live_bytes() == before);
        CHECK(peak_bytes() == before + bytes(3000));
        reset_peak();
        CHECK(peak_bytes() == before);
    }

    TEST_CASE("live_bytes: backward frees what the graph held, but for the parameter's gradient") {
        size_t before = live_bytes();
        Tensor x = Tensor::parameter({100});
        Tensor loss = sum(x * x * x);
        CHECK(live_bytes() >= before + bytes(300));
        loss.backward();
        CHECK(live_bytes() == before + bytes(100 + 100 + 1));  // x, its gradient, the loss
    }

    TEST_CASE("live_bytes: threads count together, and an array may be freed by another thread") {
        size_t before = live_bytes();
        reset_peak();
        std::vector<Tensor> kept(4);
        std::vector<std::thread> threads;
        for (Tensor& tensor : kept)
            threads.emplace_back([&tensor] {
                for (int i = 1; i <= 2000; ++i) tensor = Tensor::zeros({i});
            });
        for (std::thread& thread : threads) thread.join();
        CHECK(live_bytes() == before + 4 * bytes(2000));
        CHECK(peak_bytes() >= before + 4 * bytes(2000));
        CHECK(peak_bytes() <= before + 4 * bytes(2000 + 1999));
        kept.clear();
        CHECK(live_bytes() == before);
    }

    TEST_CASE("an array larger than memory is an error and does not count") {
        size_t before = live_bytes();
        check_error([] { Tensor::zeros({1 << 30, 1 << 20}); }, {"not enough memory", "GB"});
        CHECK(live_bytes() == before);
    }
}
