// Threads are data parallelism over the batch: every count of them gives the same training, and timing changes nothing.
// This suite alone runs under the thread sanitizer, so it is small.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "common/babygpt.h"
#include "common/train/training_step.h"
#include "tests/check.h"

namespace threads_test {
#define main gpt_main
#include "stages/10_gpt.cpp"
#undef main
}  // namespace threads_test

using namespace babygpt;

namespace {

const Corpus& corpus() {
    static const Corpus text = [] {
        std::string letters;
        Rng rng(1, "text");
        for (int i = 0; i < 600; ++i) letters += char('a' + rng.below(7));
        return make_corpus("letters", letters);
    }();
    return text;
}

Options small(int threads, double dropout = 0) {
    return {.batch_size = 3,
            .block_size = 5,
            .n_embd = 8,
            .n_head = 2,
            .n_layer = 2,
            .dropout = dropout,
            .steps = 5,
            .warmup = 2,
            .decay = true,
            .clip = 0.5,
            .eval_batches = 7,
            .threads = threads};
}

std::unique_ptr<LanguageModel> make(const Options& o, int vocab_size, Rng& rng) {
    return std::make_unique<threads_test::Model>(o, vocab_size, rng);
}

struct Result {
    std::vector<double> losses;
    std::vector<real> weights;
};

Result train(const Options& o, int steps = 4) {
    LanguageModelling objective(o, corpus(), make);
    Trainer trainer(o, objective);
    Result result;
    for (int i = 0; i < steps; ++i) result.losses.push_back(trainer.step());
    for (const auto& [name, tensor] : trainer.model().parameters)
        result.weights.insert(result.weights.end(), tensor.values().begin(), tensor.values().end());
    return result;
}

// Calls f on worker 0 while the others are idle, until one of them has helped ten times; fails if none ever does.
template <class F>
void on_a_pool_that_helps(ThreadPool& pool, F f) {
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (pool.tasks_shared() < 10 && std::chrono::steady_clock::now() < until)
        pool.run([&](int worker) {
            for (int i = 0; worker == 0 && i < 100; ++i) f();
        });
    CHECK(pool.tasks_shared() >= 10);
}

}  // namespace

TEST_SUITE("threads") {
    TEST_CASE("ThreadPool: every worker does its part, and run returns when all are done") {
        for (int size = 1; size <= 5; ++size) {
            ThreadPool pool(size);
            CHECK(pool.size() == size);
            std::vector<int> rounds(size_t(size), 0);
            for (int round = 1; round <= 20; ++round) {
                pool.run([&](int worker) {
                    if (worker == size - 1) std::this_thread::sleep_for(std::chrono::microseconds(50));
                    ++rounds[size_t(worker)];
                });
                CHECK(std::ranges::count(rounds, round) == size);
            }
        }
    }

    TEST_CASE("ThreadPool: worker 0 is the caller, the others are threads of their own") {
        ThreadPool pool(3);
        std::vector<std::thread::id> ids(3);
        pool.run([&](int worker) { ids[size_t(worker)] = std::this_thread::get_id(); });
        CHECK(ids[0] == std::this_thread::get_id());
        CHECK(ids[1] != ids[0]);
        CHECK(ids[2] != ids[0]);
        CHECK(ids[1] != ids[2]);
    }

    TEST_CASE("ThreadPool: what a worker throws reaches the caller, once, and the pool goes on") {
        ThreadPool pool(4);
        for (int thrower = 0; thrower < 4; ++thrower) {
            std::atomic<int> done = 0;
            auto job = [&](int worker) {
                if (worker == thrower) fail("worker ", worker, " is ill");
                ++done;
            };
            check_error([&] { pool.run(job); }, {str("worker ", thrower, " is ill")});
            CHECK(done == 3);
            CHECK_NOTHROW(pool.run([](int) {}));
        }
        check_error([&] { pool.run([](int worker) { fail("worker ", worker); }); }, {"worker 0"});
        CHECK_NOTHROW(pool.run([](int) {}));  // the others' errors are gone too
    }

    TEST_CASE("fork_join: an idle worker does the other half, and both are done when it returns") {
        ThreadPool pool(2);
        on_a_pool_that_helps(pool, [&] {
            std::thread::id mine, other;
            fork_join([&] { mine = std::this_thread::get_id(); }, [&] { other = std::this_thread::get_id(); });
            CHECK(mine == std::this_thread::get_id());
            REQUIRE(other != std::thread::id());
        });
    }

    TEST_CASE("fork_join: where nobody is idle, or there is no pool, both halves are done by the caller") {
        std::vector<std::thread::id> done;
        auto half = [&] { done.push_back(std::this_thread::get_id()); };
        fork_join(half, half);
        ThreadPool alone(1);
        alone.run([&](int) { fork_join(half, half); });
        CHECK(done == std::vector(4, std::this_thread::get_id()));
        CHECK(alone.tasks_shared() == 0);
    }

    TEST_CASE("products: one row's product is shared with an idle worker, and has the same bytes") {
        Tensor x = random_tensor({1, 64}), weight = random_tensor({601, 64});
        Tensor alone = linear(x, weight);
        ThreadPool pool(2);
        on_a_pool_that_helps(pool, [&] { CHECK(same_bytes(linear(x, weight).values(), alone.values())); });
    }

    TEST_CASE("products: of a model that only reads, large ones are shared, and have the same bytes") {
        NoGrad reading;
        Tensor x = random_tensor({5, 401}), weight = random_tensor({370, 401}), bias = random_tensor({370}, 3);
        Tensor alone = linear(x, weight, bias);
        ThreadPool pool(2);
        on_a_pool_that_helps(pool, [&] { CHECK(same_bytes(linear(x, weight, bias).values(), alone.values())); });
    }

    TEST_CASE("backward: a gradient is right beside idle workers: a computed weight, one used twice, tied ones") {
        auto check = [](auto loss) {
            auto gradient = [&] {
                Tensor x = random_tensor({32, 24}), weight = random_tensor({24, 24}, 2);
                loss(x, weight).backward();
                return copy(weight.grad());
            };
            std::vector<real> alone = gradient();
            for (int size : {2, 3}) {
                ThreadPool pool(size);
                for (int i = 0; i < 5; ++i)
                    pool.run([&](int worker) {
                        if (worker == 0) CHECK(same_bytes(gradient(), alone));
                    });
            }
        };
        check([](const Tensor& x, const Tensor& weight) {  // the weight is itself computed
            Tensor y = linear(x, weight * 2.0);
            return sum(y * y);
        });
        check([](const Tensor& x, const Tensor& weight) { return sum(linear(relu(linear(x, weight)), weight)); });
        check([](const Tensor& x, const Tensor& weight) {  // tied: a table of embeddings that is also the last layer
            return sum(
                linear(relu(linear(x, weight) + embedding(weight, Tokens(32, 1, std::vector<int>(32, 3)))), weight));
        });
    }

    TEST_CASE("Trainer: from 1 to 5 threads on a batch of 3, losses and weights agree within rounding") {
        for (double dropout : {0.0, 0.2}) {  // a row is dropped the same numbers whoever computes it
            Result one = train(small(1, dropout));
            for (int threads = 2; threads <= 5; ++threads) {
                CAPTURE(dropout);
                CAPTURE(threads);
                Result many = train(small(threads, dropout));
                for (size_t i = 0; i < one.losses.size(); ++i)
                    CHECK(many.losses[i] == doctest::Approx(one.losses[i]).epsilon(in_double ? 1e-10 : 1e-4));
                CHECK(difference(many.weights, one.weights) < (in_double ? 1e-9 : 1e-3));
            }
        }
    }

    TEST_CASE("Trainer: one seed and one thread count give the same bytes, with dropout too") {
        for (int threads : {1, 2, 3, 5}) {  // with 2, one has a row and the other two
            CAPTURE(threads);
            Result first = train(small(threads, 0.2)), second = train(small(threads, 0.2));
            CHECK(first.losses == second.losses);
            CHECK(same_bytes(first.weights, second.weights));
        }
    }

    TEST_CASE("Trainer: a batch of one row on four threads, and of more rows than it was made for") {
        Options one_row = small(4);
        one_row.batch_size = 1;
        LanguageModelling objective(one_row, corpus(), make);
        Trainer trainer(one_row, objective);
        Rng rng(1, "test");
        CHECK(std::isfinite(trainer.step()));
        CHECK(std::isfinite(trainer.step(TextBatch(random_batch(corpus().train, 9, 5, rng)))));
        Options three = small(3);
        LanguageModelling other_objective(three, corpus(), make);
        Trainer other(three, other_objective);
        CHECK(std::isfinite(other.step(TextBatch(random_batch(corpus().train, 1, 5, rng)))));
        CHECK(std::isfinite(other.step(TextBatch(random_batch(corpus().train, 7, 5, rng)))));
    }

    TEST_CASE("Trainer: an error on a thread reaches the caller, and the next step works") {
        Options o = small(3);
        LanguageModelling objective(o, corpus(), make);
        Trainer trainer(o, objective);
        Batch bad{Tokens(3, 5), Tokens(3, 5)};
        bad.x.ids[14] = 1000;
        check_error([&] { trainer.step(TextBatch(bad)); }, {"embedding", "1000"});
        CHECK(std::isfinite(trainer.step()));
    }

    TEST_CASE("evaluate: any number of threads, the same bytes") {
        Options o = small(1);
        Rng rng(1, "initialisation");
        auto model = make(o, corpus().vocabulary.size(), rng);
        Losses one = evaluate(*model, corpus(), o);
        for (int threads = 2; threads <= 5; ++threads) {
            Losses many = evaluate(*model, corpus(), small(threads));
            CHECK(many.train == one.train);
            CHECK(many.val == one.val);
        }
        CHECK(one.train != one.val);
    }

    TEST_CASE("NoGrad and DropoutScope: of one thread alone") {
        Tensor x = random_tensor({100});
        Rng stream(1, "dropout");
        NoGrad evaluation;
        DropoutScope training(stream);
        bool recorded = false, dropped = true;
        std::thread([&] {
            recorded = (x * 2.0).wants_grad();
            dropped = !same_bytes(Dropout{0.5}(x).values(), x.values());
        }).join();
        CHECK(recorded);
        CHECK_FALSE(dropped);
        CHECK_FALSE((x * 2.0).wants_grad());
        CHECK_FALSE(same_bytes(Dropout{0.5}(x).values(), x.values()));
    }
}
