// The trainer adds up what its workers found, whatever they were given, and trains any objective.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/babygpt.h"
#include "common/train/training_loop.h"
#include "common/train/training_step.h"
#include "tests/check.h"
#include "tests/temporary.h"

using namespace babygpt;

namespace {

const Corpus& letters() {
    static const Corpus text = make_corpus("letters", "abcabcaabbccabcbacbacbabcabcabcaacbbabcabcab");
    return text;
}

// A model with a parameter of its own for each token: rows without the token never reach it.
struct Apart : LanguageModel {
    std::vector<Embedding> tables;

    Apart(const Options&, int vocab_size, Rng& rng) {
        for (int i = 0; i < vocab_size; ++i) add(str("tables.", i), tables.emplace_back(1, vocab_size, rng));
    }

    Tensor operator()(const Tokens& ids) const override {        // (B, 1), and one token in each share
        return tables.at(size_t(ids.ids[0]))(Tokens(ids.B, 1));  // (B, 1, V)
    }
};

std::unique_ptr<LanguageModel> make(const Options& o, int vocab_size, Rng& rng) {
    return std::make_unique<Apart>(o, vocab_size, rng);
}

// Another kind of objective: a number for each token, and of each row only the first few count, in some rows none.
constexpr int T = 5, V = 7;

struct Numbers : Module {
    Embedding table;

    explicit Numbers(Rng& rng)
        : table(V, 1, rng) {
        add("table", table);
    }
};

class CountedBatch : public DrawnBatch {
  public:
    CountedBatch(Part part, int rows, Rng& rng)
        : ids(rows, T) {
        for (int row = 0; row < rows; ++row) {
            lengths.push_back(row == 1 ? 0 : 1 + int(rng.below(T)));
            counted += lengths.back();
            for (int t = 0; t < T; ++t) ids.ids[size_t(row * T + t)] = int(rng.below(part == Part::train ? V : 3));
        }
    }
    int rows() const override { return ids.B; }
    size_t tokens() const override { return ids.ids.size(); }
    Tensor loss(const Module& model, int first, int last) const override {  // mean of (table[id] - id)^2
        int B = last - first;
        std::vector<int> part(ids.ids.begin() + first * T, ids.ids.begin() + last * T);
        Tensor wanted = Tensor::zeros({B, T, 1}), counts = Tensor::zeros({B, T, 1});
        for (int i = 0; i < B * T; ++i) {
            wanted.values()[size_t(i)] = real(part[size_t(i)]);
            counts.values()[size_t(i)] = i % T < lengths[size_t(first + i / T)];
        }
        Tensor error = static_cast<const Numbers&>(model).table(Tokens(B, T, part)) - wanted;  // (B, T, 1)
        return sum(error * error * counts) / counted;
    }

    Tokens ids;
    std::vector<int> lengths;
    int counted = 0;
};

class Numbering : public Objective {
  public:
    explicit Numbering(const Options& o)
        : options(o) {}
    std::shared_ptr<Module> make_model(Rng& rng) const override { return std::make_shared<Numbers>(rng); }
    std::unique_ptr<DrawnBatch> draw(Part part, Rng& rng) const override {
        return std::make_unique<CountedBatch>(part, options.batch_size, rng);
    }
    Checkpoint describe(const Module& model, int step, Losses losses) const override {
        Corpus text = make_corpus("numbers", "01");
        return describe_model(options, text, model, step, losses.train, losses.val);
    }
    std::string introduce() const override { return "numbers\n"; }
    void show(const Module& model, const Tell& tell) const override {
        double error = 0;
        for (int id = 0; id < V; ++id)
            error = std::max(error, std::abs(double(model.parameters[0].tensor.values()[size_t(id)]) - id));
        tell({{"final", {{"largest_error", error}}}}, "shown\n", "shown\n");
    }

  private:
    const Options& options;
};

Options numbering(int threads) {
    Options o{.stage = "numbering", .batch_size = 5, .block_size = 0, .steps = 400};
    o.learning_rate = 0.1, o.weight_decay = 0, o.threads = threads, o.eval_interval = 100;
    return o;
}

}  // namespace

TEST_SUITE("trainer") {
    TEST_CASE("any objective: targets that count differ by row, and any number of threads learns the same") {
        std::vector<real> one;
        for (int threads : {1, 2, 3, 7}) {
            CAPTURE(threads);
            Options o = numbering(threads);
            Numbering objective(o);
            Trainer trainer(o, objective);
            Rng rng(1, "test");
            CountedBatch batch(Part::train, 5, rng);
            double expected = 0;
            for (int row = 0; row < 5; ++row)
                for (int t = 0; t < batch.lengths[size_t(row)]; ++t) {
                    int id = batch.ids.ids[size_t(row * T + t)];
                    expected += std::pow(trainer.model().parameters[0].tensor.values()[size_t(id)] - id, 2);
                }
            CHECK(trainer.step(batch) == doctest::Approx(expected / batch.counted).epsilon(rounding));
            for (int i = 0; i < 10; ++i) trainer.step();
            std::vector<real> weights = copy(trainer.model().parameters[0].tensor.values());
            if (one.empty()) one = weights;
            CHECK(difference(weights, one) < 100 * rounding);
        }
    }

    TEST_CASE("any objective: a run trains it, files what it shows, and is resumed") {
        TemporaryDirectory own;
        const std::string home = own.path;
        auto run = [&](const char* name, int steps, bool resume) {  // in a process of its own: a run catches signals
            Options o = numbering(2);
            o.out = home + "/" + name, o.steps = steps, o.resume = resume;
            std::fflush(nullptr);
            pid_t child = fork();
            if (child == 0) {
                bool quiet = std::freopen("/dev/null", "w", stdout);
                _exit(quiet ? guarded("numbering", [&] { train_objective(o, Numbering(o)); }) : 1);
            }
            int status = -1;
            waitpid(child, &status, 0);
            CHECK(status == 0);
            std::ifstream file(o.out + "/run.json");
            return nlohmann::json::parse(file);
        };
        nlohmann::json whole = run("whole", 400, false);
        CHECK(run("parts", 200, false)["steps"] == 200);
        nlohmann::json parts = run("parts", 400, true);
        CHECK(whole["final"] == parts["final"]);
        CHECK(whole["best"] == parts["best"]);
        CHECK(whole["final"]["largest_error"].get<double>() < 0.5);
        CHECK(whole["final"]["val_loss"].get<double>() < 0.1);
        CHECK(!whole.contains("baselines"));
        std::string text;
        std::ifstream samples(home + "/parts/samples.txt");
        CHECK(std::getline(samples, text));
        CHECK(text == "shown");
    }

    TEST_CASE("a loss that is no number before the first step: NaN and infinity have reasons of their own") {
        struct Broken : Numbering {
            struct Batch : CountedBatch {
                using CountedBatch::CountedBatch;
                real its_loss = 0;
                Tensor loss(const Module&, int, int) const override { return Tensor({1}, {its_loss}); }
            };
            real its_loss;
            Broken(const Options& o, real loss)
                : Numbering(o),
                  its_loss(loss) {}
            std::unique_ptr<DrawnBatch> draw(Part part, Rng& rng) const override {
                auto batch = std::make_unique<Batch>(part, 5, rng);
                batch->its_loss = its_loss;
                return batch;
            }
        };
        TemporaryDirectory own;
        const std::string file = own.path / "said";
        auto said = [&](double loss) {  // in a process of its own: a run catches signals
            Options o = numbering(1);
            o.out = own.path / "run";
            std::fflush(nullptr);
            pid_t child = fork();
            if (child == 0) {
                bool kept = std::freopen("/dev/null", "w", stdout) && std::freopen(file.c_str(), "w", stderr);
                int code = kept ? guarded("numbering", [&] { train_objective(o, Broken(o, real(loss))); }) : 1;
                std::fflush(nullptr);
                _exit(code);
            }
            int status = -1;
            waitpid(child, &status, 0);
            CHECK(WEXITSTATUS(status) == 2);
            std::ifstream in(file);
            std::string line;
            std::getline(in, line);
            return line;
        };
        CHECK(said(NAN) ==
              "numbering: the loss is NaN before the first step: something is computed that is no number, as 0 / 0 and "
              "inf - inf are; look at what each part of the model returns, in their order");
        CHECK(
            said(INFINITY) ==
            "numbering: the loss is infinite before the first step: the model calls something impossible that comes in "
            "the text");
    }

    TEST_CASE(
        "a parameter that is replaced is trained on by every worker, and another shape is refused before the step") {
        for (int threads : {1, 3}) {
            CAPTURE(threads);
            Options o{.batch_size = 3, .block_size = 1, .weight_decay = 0, .threads = threads};
            LanguageModelling objective(o, letters(), make);
            Trainer trainer(o, objective);
            TextBatch batch({Tokens(3, 1, {0, 0, 0}), Tokens(3, 1, {0, 1, 2})});
            trainer.step(batch);
            Tensor table = trainer.model().parameters[0].tensor;
            table.replace(Tensor::zeros(table.shape()));
            CHECK(trainer.step(batch) == doctest::Approx(std::log(table.size(1))));  // all workers see the zeros
            table.replace(Tensor::zeros({1, 2}));
            check_error([&] { trainer.step(batch); }, {"(1,2)", "new optimiser"});
        }
    }

    TEST_CASE("a parameter that only some shares reach gets their gradients, and one that none reaches stays") {
        for (int pattern = 0; pattern < 27; ++pattern) {  // which of the three parameters each of three rows uses
            std::vector<int> ids{pattern % 3, pattern / 3 % 3, pattern / 9};
            CAPTURE(pattern);
            Options o{.batch_size = 3, .block_size = 1, .weight_decay = 0, .clip = 1, .threads = 3};
            LanguageModelling objective(o, letters(), make);
            Trainer trainer(o, objective);
            for (auto& [name, tensor] : trainer.model().parameters) std::ranges::fill(tensor.values(), real(0));
            trainer.step(TextBatch({Tokens(3, 1, ids), Tokens(3, 1, {0, 1, 2})}));
            for (size_t i = 0; i < 3; ++i) {
                const Tensor& table = trainer.model().parameters[i].tensor;
                CHECK(table.has_grad() == (std::ranges::count(ids, int(i)) > 0));
                for (size_t v = 0; v < 3 && table.has_grad(); ++v) {  // softmax - target, a third of it for each row
                    double expected = 0;
                    for (size_t row = 0; row < 3; ++row)
                        if (ids[row] == int(i)) expected += (1.0 / 3 - (row == v)) / 3;
                    CHECK(table.grad()[v] == doctest::Approx(expected).epsilon(1e-5));
                }
                CHECK(std::ranges::any_of(table.values(), [](real v) { return v != 0; }) == table.has_grad());
            }
        }
    }
}
