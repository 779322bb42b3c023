#include "common/train/trainer.h"

#include <cstdio>
#include <filesystem>
#include <new>

#include "common/app/command_line.h"
#include "common/base/files.h"
#include "common/tensor/kernels.h"
#include "common/write/writing.h"

namespace babygpt {

namespace {

// A worker takes its share of the batch in chunks of about this many characters, so that what a layer writes is still
// in cache when the next one reads it. Gradients add up over the chunks, so the result is the same.
constexpr int chunk_characters = 1024;

Batch rows_of(const Batch& batch, int first, int last) {
    int T = batch.x.T;
    auto cut = [&](const std::vector<int>& ids) {
        return std::vector<int>(ids.begin() + std::ptrdiff_t(first) * T, ids.begin() + std::ptrdiff_t(last) * T);
    };
    return {Tokens(last - first, T, cut(batch.x.ids)), Tokens(last - first, T, cut(batch.y.ids))};
}

// Calls f with chunks of the batch's rows from first to last.
template <class F>
void for_chunks(const Batch& batch, int first, int last, F f) {
    int rows = std::max(1, chunk_characters / batch.x.T);
    for (int row = first; row < last; row += rows) f(rows_of(batch, row, std::min(row + rows, last)));
}

}  // namespace

Trainer::Trainer(const Options& o, const Corpus& c, const MakeModel& make_model)
    : optimiser({}),
      batches(o.seed, "batches"),
      options(o),
      corpus(c),
      pool(thread_count(o)),
      replicas([&] {
          std::vector<std::unique_ptr<LanguageModel>> list;
          for (int worker = 0; worker < std::min(pool.size(), o.batch_size); ++worker) {
              Rng rng(o.seed, "initialisation");
              list.push_back(make_model(o, c.vocabulary.size(), rng));
              for (size_t i = 0; i < list[0]->parameters.size(); ++i)
                  list.back()->parameters[i].tensor.share_values(list[0]->parameters[i].tensor);
          }
          return list;
      }()),
      schedule{.learning_rate = o.learning_rate, .warmup = o.warmup, .steps = o.steps, .decay = o.decay} {
    optimiser = AdamW(replicas[0]->parameters, o.weight_decay, o.beta1, o.beta2);
}

double Trainer::step() { return step(random_batch(corpus.train, options.batch_size, options.block_size, batches)); }

double Trainer::step(const Batch& batch) {
    size_t workers = std::min(replicas.size(), size_t(batch.x.B));
    std::vector<double> losses(workers), squares(size_t(pool.size()));
    pool.run([&](int worker) {
        if (size_t(worker) < workers) losses[size_t(worker)] = work(worker, batch);
    });
    pool.run([&](int part) { squares[size_t(part)] = add_up_gradients(part, workers); });
    double loss = 0, length = 0;
    for (double part : losses) loss += part;
    for (double part : squares) length += part;
    double rate = schedule.at(optimiser.steps);
    optimiser.begin();
    pool.run([&](int part) { optimiser.update(rate, clip_scale(length, options.clip), part, pool.size()); });
    return loss;
}

double Trainer::work(int worker, const Batch& batch) {
    LanguageModel& model = *replicas[size_t(worker)];
    for (Module::Parameter& parameter : model.parameters) parameter.tensor.clear_grad();
    int workers = int(std::min(replicas.size(), size_t(batch.x.B)));
    Rng noise(options.seed, "dropout", uint64_t(optimiser.steps) * uint64_t(workers) + uint64_t(worker));
    DropoutScope training(noise);
    double total = 0;
    for_chunks(batch, batch.x.B * worker / workers, batch.x.B * (worker + 1) / workers, [&](const Batch& chunk) {
        Tensor loss = cross_entropy(model(chunk.x), chunk.y, batch.x.ids.size());
        total += loss.item();
        loss.backward();
    });
    return total;
}

double Trainer::add_up_gradients(int part, size_t workers) {
    double squares = 0;
    for_part(optimiser.parameters, part, pool.size(), [&](size_t i, size_t first, size_t last) {
        Tensor& whole = replicas[0]->parameters[i].tensor;
        if (!whole.has_grad()) return;
        std::span<real> sum = whole.grad().subspan(first, last - first);
        for (size_t worker = 1; worker < workers; ++worker)
            add(replicas[worker]->parameters[i].tensor.grad().subspan(first, last - first), sum);
        if (options.clip > 0) squares += sum_of_squares(sum);
    });
    return squares;
}

Losses evaluate(const LanguageModel& model, const Corpus& corpus, const Options& options) {
    auto mean_loss = [&](const std::vector<int>& tokens, const char* stream) {
        std::vector<double> losses(size_t(options.eval_batches));
        ThreadPool pool(thread_count(options));
        pool.run([&](int worker) {
            NoGrad evaluation;
            for (int i = worker; i < options.eval_batches; i += pool.size()) {
                Rng rng(options.seed, stream, uint64_t(i));
                Batch batch = random_batch(tokens, options.batch_size, options.block_size, rng);
                for_chunks(batch, 0, batch.x.B, [&](const Batch& chunk) {
                    losses[size_t(i)] += cross_entropy(model(chunk.x), chunk.y, batch.x.ids.size()).item();
                });
            }
        });
        double total = 0;
        for (double loss : losses) total += loss;
        return total / options.eval_batches;
    };
    return {mean_loss(corpus.train, "evaluation of train"), mean_loss(corpus.val, "evaluation of val")};
}

void check_fit(const Options& o, const Corpus& corpus) {
    if (corpus.val.size() <= size_t(o.block_size))
        fail(corpus.name, " is too short: its validation part (the last tenth) has ", corpus.val.size(),
             " characters, and a block of --block-size ", o.block_size, " needs ", o.block_size + 1,
             "; give more text or a smaller block");
}

int guarded(const std::string& name, const std::function<void()>& f) {
    try {
        f();
        flush_output();
        return 0;
    } catch (const Error& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        return 2;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "%s: not enough memory; choose smaller sizes\n", name.c_str());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        return 1;
    }
}

namespace {

void train_with_trainer(const Options& options, const MakeModel& make_model) {
    Corpus corpus = load_corpus(options.data);
    check_fit(options, corpus);
    Trainer trainer(options, corpus, make_model);
    Run run(options, corpus, trainer.model().parameter_count());
    for (int step = run.resume(trainer.model(), trainer.optimiser, trainer.batches);; ++step) {
        if (run.due(step)) run.record(step, evaluate(trainer.model(), corpus, options), &trainer.model());
        run.save(step, trainer.model(), trainer.optimiser, trainer.batches);
        if (run.ends(step)) break;
        run.trained(step, trainer.step());
    }
    run.finish(trainer.model());
}

// With --resume, what the command line does not say is as it was; what it says must not differ from that.
Options resumed_options(int argc, char** argv, const Options& asked, const Options& defaults) {
    SavedModel saved = load_model(asked.out + "/resume.safetensors", defaults);
    Options options = saved.options;
    options.out = asked.out;
    parse_options(argc, argv, options, defaults);
    Options same = options;
    same.steps = saved.options.steps;  // a run may be made longer
    if (std::string what = difference(same, saved.options); !what.empty())
        fail("cannot resume ", asked.out, ": ", what);
    if (options.decay && options.steps != saved.options.steps)
        std::printf("the learning rate was planned for %d steps, from here on for %d\n", saved.options.steps,
                    options.steps);
    Corpus corpus = load_corpus(options.data);
    if (corpus.hash != saved.corpus_hash)
        fail("cannot resume ", asked.out, ": the text ", options.data, " has changed since; its vocabulary has ",
             corpus.vocabulary.size(), " characters, the run's ", saved.vocabulary.size());
    return options;
}

}  // namespace

std::optional<std::vector<int>> training_text(const SavedModel& saved) {
    try {
        const std::string& data = saved.options.data;
        std::error_code error;  // a directory that may not be entered is no reason to fail, a pipe would wait
        if (std::filesystem::exists(data, error) && !std::filesystem::is_regular_file(data, error)) return {};
        Corpus corpus = load_corpus(data);
        if (corpus.hash == saved.corpus_hash) return corpus.train;
    } catch (const Error&) {  // it is not at hand: nothing to compare with
    }
    return {};
}

int run_stage(int argc, char** argv, const Options& defaults, const MakeModel& make_model, const Train& train) {
    return guarded(defaults.stage, [&] {
        Options options = defaults;
        if (parse_options(argc, argv, options) == Command::sample) {
            SavedModel saved = load_model(options.model + "/model.safetensors", defaults);
            Rng unused(0);
            auto model = make_model(saved.options, saved.vocabulary.size(), unused);
            restore(model->parameters, saved.checkpoint, "", options.model + "/model.safetensors");
            return write_sample(next_logits(*model, saved.options.block_size), saved.vocabulary, options,
                                training_text(saved));
        }
        if (options.resume) options = resumed_options(argc, argv, options, defaults);
        train ? train(options) : train_with_trainer(options, make_model);
    });
}

}  // namespace babygpt
