// Threads are data parallelism over the batch: every count of them gives the same training, and timing changes nothing.
// This suite alone runs under the thread sanitizer, so it is small.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "common/babygpt.h"
#include "common/train/trainer.h"
#include "tests/check.h"

namespace threads_test {
#define main gpt_main
#include "stages/09_gpt.cpp"
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

}  // namespace

TEST_SUITE("threads") {
    TEST_CASE("Team: every member does its part, and run returns when all are done") {
        for (int size = 1; size <= 5; ++size) {
            Team team(size);
            CHECK(team.size() == size);
            std::vector<int> rounds(size_t(size), 0);
            for (int round = 1; round <= 20; ++round) {
                team.run([&](int worker) {
                    if (worker == size - 1) std::this_thread::sleep_for(std::chrono::microseconds(50));
                    ++rounds[size_t(worker)];
                });
                CHECK(std::ranges::count(rounds, round) == size);
            }
        }
    }

    TEST_CASE("Team: member 0 is the caller, the others are threads of their own") {
        Team team(3);
        std::vector<std::thread::id> ids(3);
        team.run([&](int worker) { ids[size_t(worker)] = std::this_thread::get_id(); });
        CHECK(ids[0] == std::this_thread::get_id());
        CHECK(ids[1] != ids[0]);
        CHECK(ids[2] != ids[0]);
        CHECK(ids[1] != ids[2]);
    }

    TEST_CASE("Team: what a member throws reaches the caller, once, and the team goes on") {
        Team team(4);
        for (int thrower = 0; thrower < 4; ++thrower) {
            std::atomic<int> done = 0;
            auto job = [&](int worker) {
                if (worker == thrower) fail("member ", worker, " is ill");
                ++done;
            };
            check_error([&] { team.run(job); }, {str("member ", thrower, " is ill")});
            CHECK(done == 3);
            CHECK_NOTHROW(team.run([](int) {}));
        }
        check_error([&] { team.run([](int worker) { fail("member ", worker); }); }, {"member 0"});
        CHECK_NOTHROW(team.run([](int) {}));  // the others' errors are gone too
    }

    TEST_CASE("hand_out: an idle member does the errand, and after settle() it is done") {
        Team team(2);
        std::thread::id helper;
        team.run([&](int worker) {
            if (worker == 1) return;
            auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            while (helper == std::thread::id() && std::chrono::steady_clock::now() < until) {
                std::thread::id done_by;
                bool away = hand_out([&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    done_by = std::this_thread::get_id();
                });
                if (away) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // time to come and take it
                settle();
                REQUIRE(done_by != std::thread::id());
                if (done_by != std::this_thread::get_id()) helper = done_by;
            }
        });
        CHECK(helper != std::thread::id());
    }

    TEST_CASE("hand_out: where nobody is idle, or there is no team, the errand is done at once") {
        int done = 0;
        CHECK_FALSE(hand_out([&] { ++done; }));
        CHECK(done == 1);
        settle();
        Team alone(1);
        alone.run([&](int) { CHECK_FALSE(hand_out([&] { ++done; })); });
        CHECK(done == 2);
    }

    TEST_CASE(
        "hand_out: what an errand throws reaches the caller of run, and a job's error does not strand its errand") {
        Team team(3);
        for (int i = 0; i < 50; ++i) {
            auto ill = [](int worker) {
                if (worker == 0) hand_out([] { fail("the errand is ill"); });
            };
            check_error([&] { team.run(ill); }, {"the errand is ill"});
            std::atomic<int> done = 0;
            auto leaves = [&](int worker) {
                if (worker > 0) return;
                hand_out([&] { ++done; });
                fail("the job is ill");
            };
            check_error([&] { team.run(leaves); }, {"the job is ill"});
            CHECK(done == 1);
        }
    }

    TEST_CASE("products: shared with an idle member or not, the same bytes") {
        for (auto [rows, out] : {std::pair{1, 301}, {67, 301}}) {
            CAPTURE(rows);
            Tensor x = random_tensor({rows, 64}), weight = random_tensor({out, 64});
            Tensor alone = linear(x, weight);
            Team team(2);
            for (int i = 0; i < 50; ++i)
                team.run([&](int worker) {
                    if (worker == 0) CHECK(same_bytes(linear(x, weight).values(), alone.values()));
                });
        }
    }

    TEST_CASE("backward: a weight used twice gets both gradients, whoever computes them") {
        auto gradient = [] {
            Tensor x = random_tensor({40, 33}), weight = random_tensor({33, 33});
            sum(linear(relu(linear(x, weight)), weight)).backward();
            return std::vector<real>(weight.grad().begin(), weight.grad().end());
        };
        std::vector<real> alone = gradient();
        Team team(2);
        for (int i = 0; i < 200; ++i)
            team.run([&](int worker) {
                if (worker == 0) CHECK(same_bytes(gradient(), alone));
            });
    }

    TEST_CASE("Trainer: from 1 to 5 threads on a batch of 3, losses and weights agree within rounding") {
        Result one = train(small(1));
        for (int threads = 2; threads <= 5; ++threads) {
            CAPTURE(threads);
            Result many = train(small(threads));
            for (size_t i = 0; i < one.losses.size(); ++i)
                CHECK(many.losses[i] == doctest::Approx(one.losses[i]).epsilon(in_double ? 1e-10 : 1e-4));
            CHECK(difference(many.weights, one.weights) < (in_double ? 1e-9 : 1e-3));
        }
    }

    TEST_CASE("Trainer: one seed and one thread count give the same bytes, with dropout too") {
        for (int threads : {1, 2, 3, 5}) {  // with 2, one has a row and helps the other with two
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
