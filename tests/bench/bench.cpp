// Our side of the benchmark: does what it is told on standard input, and answers with seconds. bench.py drives it.
//   bench train KIND B T C heads layers V dropout threads     then "N": N training steps
//   bench bert DIRECTORY T threads                             then "N": N sequences of T tokens read by that model
//   bench load DIRECTORY                                       then "N": N times loading it
//   bench write T C heads layers V threads                     then "N": N characters with the cache, from an empty one
//   bench peak SIZE threads    then "N": N products of SIZE x SIZE matrices, on each thread at once
//   bench read MEGABYTES       then "N": N times reading that much memory
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>

#include "common/babygpt.h"
#include "common/train/training_step.h"

#define main stage_main
namespace bigram {
#include "stages/01_bigram.cpp"
}
namespace head {
#include "stages/03_head.cpp"
}
namespace multihead {
#include "stages/04_multihead.cpp"
}
namespace heads {
#include "stages/09_heads.cpp"
}
namespace gpt {
#include "stages/10_gpt.cpp"
}
namespace cached {
#include "stages/11_kvcache.cpp"
}
namespace relative {
#include "stages/12_relative.cpp"
}
namespace bert {
#include "stages/13_bert.cpp"
}
namespace translate {
#include "stages/14_translate.cpp"
}
namespace prune {
#include "stages/15_prune.cpp"
}
namespace memory {
#include "stages/16_memory.cpp"
}
#undef main

using namespace babygpt;

namespace {

MakeModel make(const std::string& kind) {
    if (kind == "bigram") return maker<bigram::Model>();
    if (kind == "head") return maker<head::Model>();
    if (kind == "multihead") return maker<multihead::Model>();
    if (kind == "heads") return maker<heads::Model>();  // the readable form of gpt's attention
    if (kind == "gpt") return maker<gpt::Model>();
    if (kind == "relative") return maker<relative::Model>();
    fail("no model of kind ", kind);
}

Corpus random_text(int vocab_size) {
    std::u32string characters;
    for (int i = 0; i < vocab_size; ++i) characters.push_back(char32_t(0x4e00 + i));
    std::vector<int> tokens;
    Rng rng(1, "benchmark");
    for (int i = 0; i < 100'000; ++i) tokens.push_back(int(rng.below(uint64_t(vocab_size))));
    return {"random", Vocabulary(characters), tokens, tokens, {}, nullptr, 0};
}

// Of T/5 to T/2 characters each.
Sentences random_sentences(int vocab_size, int T) {
    std::u32string characters;
    for (int i = 5; i < vocab_size; ++i) characters.push_back(char32_t(0x4e00 + i));
    Sentences text{"random", CharacterTokenizer(Vocabulary(characters)), {}, {}, 2000, {}, {}, 0};
    Rng rng(1, "benchmark");
    for (int i = 0; i < 2000; ++i) {
        std::vector<int>& ids = text.tokens.emplace_back(T / 5 + int(rng.below(uint64_t(T / 2 - 1 - T / 5))));
        for (int& id : ids) id = 5 + int(rng.below(uint64_t(vocab_size - 5)));
        if (i % 2) text.train.push_back({i - 1, i, i, 0});
    }
    return text;
}

// Without the second half of each layer's heads.
std::unique_ptr<PreTrainingModel> make_pruned_bert(BertConfig c, Rng& rng) {
    for (int i = 0; i < c.num_hidden_layers; ++i)
        for (int head = c.num_attention_heads / 2; head < c.num_attention_heads; ++head) c.pruned_heads[i].insert(head);
    return std::make_unique<prune::Model>(c, rng);
}

std::unique_ptr<PreTrainingModel> make_checkpointed_bert(const BertConfig& c, Rng& rng) {
    return std::make_unique<memory::Model>(c, rng);
}

std::unique_ptr<PreTrainingModel> load_bert(const std::string& directory) {
    return load_hugging_face(directory, Command::fill, maker<bert::Model>()).model;
}

// Reads counts from standard input; for each, runs f that many times and prints the seconds it took.
template <class F>
void serve(F f) {
    for (int count; std::cin >> count;) {
        auto begin = std::chrono::steady_clock::now();
        f(count);
        std::printf("%.9f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        std::fflush(stdout);
    }
}

void serve_training(const Options& options, const Objective& objective) {
    Trainer trainer(options, objective);
    serve([&](int count) {
        for (int i = 0; i < count; ++i) trainer.step();
    });
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("bench", [&] {
        std::vector<std::string> words(argv + 1, argv + argc);
        auto number = [&](size_t i) { return std::atoi(words.at(i).c_str()); };
        std::string command = words.at(0);
        if (command == "train") {
            Options o{.stage = "bench",
                      .batch_size = number(2),
                      .block_size = number(3),
                      .n_embd = number(4),
                      .n_head = number(5),
                      .n_layer = number(6),
                      .dropout = std::atof(words.at(8).c_str()),
                      .threads = number(9)};
            if (words.at(1) == "translate") {
                o.positions = "absolute";
                ParallelCorpus text = load_pairs("pairs");
                serve_training(o, Translation(o, text, maker<translate::Model>()));
            } else if (const std::map<std::string, MakeBert> berts{{"bert", maker<bert::Model>()},
                                                                   {"pruned", make_pruned_bert},
                                                                   {"checkpoint", make_checkpointed_bert}};
                       berts.contains(words.at(1))) {
                o.positions = "absolute";
                o.checkpoint = words.at(1) == "checkpoint";
                Sentences text = random_sentences(number(7), number(3));
                serve_training(o, PreTraining(o, text, berts.at(words.at(1))));
            } else {
                Corpus corpus = random_text(number(7));
                serve_training(o, LanguageModelling(o, corpus, make(words.at(1))));
            }
        } else if (command == "bert") {
            auto model = load_bert(words.at(1));
            Tokens ids(1, number(2), std::vector<int>(size_t(number(2)), 7));
            ThreadPool pool(number(3));
            pool.run([&](int worker) {
                NoGrad reading;
                if (worker == 0)
                    serve([&](int count) {
                        for (int i = 0; i < count; ++i) (*model)({.input_ids = ids});
                    });
            });
        } else if (command == "load") {
            serve([&](int count) {
                for (int i = 0; i < count; ++i) load_bert(words.at(1));
            });
        } else if (command == "write") {
            Options o{.stage = "bench",
                      .block_size = number(1),
                      .n_embd = number(2),
                      .n_head = number(3),
                      .n_layer = number(4)};
            Rng rng(1);
            cached::Model model(o, number(5), rng);
            NextLogits writer = cached_writer<KeyValueCache>(model, o.block_size);
            ThreadPool pool(number(6));
            pool.run([&](int worker) {
                if (worker == 0)
                    serve([&](int count) {
                        std::vector<int> context{0};
                        for (int i = 0; i < count; ++i) context.push_back(pick(writer(context), o, rng));
                    });
            });
        } else if (command == "peak") {
            size_t n = size_t(number(1));
            ThreadPool pool(number(2));
            std::vector<std::vector<float>> a(size_t(pool.size()), std::vector<float>(n * n, 0.5f)), b = a, c = a;
            serve([&](int count) {
                pool.run([&](int w) {
                    for (int i = 0; i < count; ++i)
                        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(n), int(n), int(n), 1,
                                    a[size_t(w)].data(), int(n), b[size_t(w)].data(), int(n), 0, c[size_t(w)].data(),
                                    int(n));
                });
            });
        } else if (command == "core") {
            std::printf("%s\n", openblas_get_corename());
        } else if (command == "read") {
            std::vector<float> memory(size_t(number(1)) * 250'000, 1.0f);
            float total = 0;
            serve([&](int count) {
                for (int i = 0; i < count; ++i) total += cblas_sasum(int(memory.size()), memory.data(), 1);
            });
            if (total < 0) std::printf("impossible\n");
        } else {
            fail("unknown command ", command);
        }
    });
}
