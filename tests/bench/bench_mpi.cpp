// Times what several ranks do together; bench_mpi.py starts it with mpirun and reads what it prints.
//   bench reduce SECONDS                                 bytes, and the median seconds of adding them up over ranks
//   bench step B T C heads layers V PIECE SECONDS        medians of a step and of its waiting; PIECE: bytes at a time
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "common/babygpt.h"
#include "common/train/ranks.h"
#include "common/train/training_step.h"

#define main stage_main
namespace gpt {
#include "stages/10_gpt.cpp"
}
#undef main

using namespace babygpt;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + std::ptrdiff_t(values.size() / 2));
    return values[values.size() / 2];
}

// Again and again until the first rank has had enough, but three times at least.
template <class F>
void repeat(double seconds, F f) {
    double begin = now();
    for (int i = 0;; ++i) {
        double enough = ranks::first() && i >= 3 && now() - begin > seconds;
        ranks::all_reduce({&enough, 1});
        if (enough) return;
        f();
    }
}

void time_reductions(double seconds) {
    for (size_t bytes = 1 << 10; bytes <= 1 << 26; bytes *= 4) {
        std::vector<real> numbers(bytes / sizeof(real), 1);
        std::vector<double> times;
        repeat(seconds, [&] {
            double begin = now();
            ranks::begin_all_reduce(numbers);
            ranks::finish_all_reduces();
            times.push_back(now() - begin);
        });
        std::printf("%zu %.9f\n", bytes, median(times));
        std::fflush(stdout);
    }
}

Corpus random_text(int vocab_size) {
    std::u32string characters;
    for (int i = 0; i < vocab_size; ++i) characters.push_back(char32_t(0x4e00 + i));
    std::vector<int> tokens;
    Rng rng(1, "benchmark");
    for (int i = 0; i < 100'000; ++i) tokens.push_back(int(rng.below(uint64_t(vocab_size))));
    return {"random", Vocabulary(characters), tokens, tokens, {}, nullptr, 0};
}

void time_steps(const Options& options, int vocab_size, size_t bucket_bytes, double seconds) {
    Corpus corpus = random_text(vocab_size);
    LanguageModelling objective(options, corpus, maker<gpt::Model>());
    Trainer trainer(options, objective, bucket_bytes);
    trainer.step();
    std::vector<double> steps, waits;
    repeat(seconds, [&] {
        double begin = now(), waited = trainer.waited;
        trainer.step();
        steps.push_back(now() - begin), waits.push_back(trainer.waited - waited);
    });
    std::printf("%zu %.9f %.9f\n", trainer.model().parameter_count() * sizeof(real), median(steps), median(waits));
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("bench", [&] {
        std::vector<std::string> words(argv + 1, argv + argc);
        auto number = [&](size_t i) { return std::atoi(words.at(i).c_str()); };
        if (words.at(0) == "reduce") return time_reductions(std::atof(words.at(1).c_str()));
        Options o{.stage = "bench",
                  .batch_size = number(1),
                  .block_size = number(2),
                  .n_embd = number(3),
                  .n_head = number(4),
                  .n_layer = number(5),
                  .threads = 1};
        time_steps(o, number(6), size_t(std::atoll(words.at(7).c_str())), std::atof(words.at(8).c_str()));
    });
}
