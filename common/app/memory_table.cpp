#include "common/app/memory_table.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "common/app/command_line.h"
#include "common/app/whole_chunks.h"
#include "common/base/files.h"
#include "common/base/format.h"
#include "common/tensor/allocator.h"

namespace babygpt {

namespace {

// Of this thread alone: what else the machine does is no part of it.
double seconds() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

constexpr int characters = 512;  // of a step: fewer rows where they are longer

// A model, and what it needs for a step: forward and backward on one thread, for random characters.
class Measured {
  public:
    Measured(const MakeBert& make, const BertConfig& config, int length)
        : model(make(config, rng)),
          ids(characters / length, length),
          follows(ids.B, 1) {
        for (int& id : ids.ids) id = 1 + int(rng.below(uint64_t(config.vocab_size - 1)));
        step();  // the first one also makes room for the parameters' gradients
        times.clear();
    }

    void step() {
        double begin = seconds();
        size_t before = live_bytes();
        reset_peak();
        for (Module::Parameter& parameter : model->parameters) parameter.tensor.clear_grad();
        {
            DropoutScope training(rng);
            BertForPreTrainingOutput out = (*model)({.input_ids = ids});
            (cross_entropy(std::move(out.prediction_logits), ids) +
             cross_entropy(std::move(out.seq_relationship_logits), follows))
                .backward();
        }
        bytes = double(peak_bytes() - before);
        times.push_back(seconds() - begin);
    }

    double megabytes() const { return bytes / 1e6; }  // beyond parameters and gradients
    double milliseconds() const {
        std::vector<double> sorted = times;
        std::ranges::sort(sorted);
        return 1e3 * sorted[sorted.size() / 2];
    }

  private:
    Rng rng{1, "measure"};
    std::unique_ptr<PreTrainingModel> model;
    Tokens ids, follows;
    double bytes = 0;
    std::vector<double> times;
};

struct Way {
    int checkpoint, chunk;
};

// So many steps of each, in turn, so that what else the machine does falls on all alike.
std::vector<std::unique_ptr<Measured>> measure(const MakeBert& make, const Options& o, int layers, int length,
                                               const std::vector<Way>& ways, int steps) {
    std::vector<std::unique_ptr<Measured>> all;
    for (const Way& way : ways) {
        Options with = o;
        with.n_layer = layers, with.block_size = length, with.checkpoint = way.checkpoint, with.chunk = way.chunk;
        all.push_back(std::make_unique<Measured>(make, bert_config(with, 64), length));
    }
    for (int i = 0; i < steps; ++i)
        for (auto& each : all) each->step();
    return all;
}

std::string shares(const Measured& it, const Measured& plain) {
    return format("%8.2f %5.2f %7.1f %5.2f", it.megabytes(), it.megabytes() / plain.megabytes(), it.milliseconds(),
                  it.milliseconds() / plain.milliseconds());
}

void print_tables(const MakeBert& make, const Options& o) {
    std::printf(
        "A step of %d characters on one thread, %d numbers wide: the most memory that its arrays take at once, beyond\n"
        "parameters and gradients, and its time; behind each, its share of the plain way's.\n\n",
        characters, o.n_embd);
    std::printf("layers     plain             --checkpoint 1                --chunk 16                both\n");
    std::printf("x length      MB      ms");
    for (int way = 0; way < 3; ++way) std::printf("      MB            ms      ");
    std::printf("\n");
    for (int layers : {4, 12, 32})
        for (int length : {64, 128, 256, 512}) {
            auto of = measure(make, o, layers, length, {{0, 0}, {1, 0}, {0, 16}, {1, 16}}, 5);
            std::printf("%-8s %7.2f %7.1f", str(layers, "x", length).c_str(), of[0]->megabytes(),
                        of[0]->milliseconds());
            for (size_t way : {1, 2, 3}) std::printf(" %s", shares(*of[way], *of[0]).c_str());
            std::printf("\n");
            flush_output();
        }
    std::printf("\n32x64, --checkpoint k\n\nk            MB            ms\n");
    std::vector<Way> ways;
    for (int k : {32, 16, 8, 4, 3, 2, 1}) ways.push_back({k, 0});
    auto of = measure(make, o, 32, 64, ways, 9);
    for (size_t i = 0; i < ways.size(); ++i)
        std::printf("%-6d %s\n", ways[i].checkpoint, shares(*of[i], *of[0]).c_str());
    flush_output();
}

}  // namespace

int measure_memory(int argc, char** argv, Options defaults, const MakeBert& make_model) {
    Command command = Command::measure;
    int code = guarded(defaults.stage, [&] {
        Options options = defaults;
        options.task = Task::measure;
        command = parse_options(argc, argv, options);
        if (command == Command::measure) print_tables(make_model, options);
    });
    if (code || command == Command::measure) return code;
    return run_bert(argc, argv, defaults, [&](const BertConfig& c, Rng& rng) -> std::unique_ptr<PreTrainingModel> {
        auto model = make_model(c, rng);
        int chunk = c.chunk_size_feed_forward;
        return chunk ? whole_chunks(std::move(model), chunk) : std::move(model);
    });
}

}  // namespace babygpt
