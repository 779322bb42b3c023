// Every stage's whole model, as its program has it: gradients, causality, learning, and runs that can be repeated.
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>

#include "common/tensor/node.h"
#include "docs/workshop/stages.h"
#include "tests/check.h"

namespace stages_test {
namespace stage_00 {
#define main stage_main
#include "stages/00_counts.cpp"
#undef main
}  // namespace stage_00
}  // namespace stages_test

using namespace babygpt;
using namespace stages_test;

namespace {

struct Stage {
    int number;
    const MakeModel& make;
};
Stage stage(const std::string& name) { return {std::stoi(name), stages.at(name)}; }
std::vector<Stage> all_stages() {
    std::vector<Stage> list;
    for (const auto& [name, make_model] : stages) list.push_back(stage(name));
    return list;
}

constexpr int V = 7, T = 5;

const Corpus& letters() {
    static const Corpus corpus = [] {
        std::string text;
        Rng rng(1, "text");
        for (int i = 0; i < 3000; ++i) text += char('a' + rng.below(V));
        return make_corpus("letters", text);
    }();
    return corpus;
}

const Corpus& tales_corpus() {
    static const Corpus corpus = load_corpus("tales");
    return corpus;
}

Options tiny(double dropout = 0) {
    return {.batch_size = 4,
            .block_size = T,
            .n_embd = 8,
            .n_head = 2,
            .n_layer = 2,
            .positions = "relative_key",
            .dropout = dropout,
            .steps = 20,
            .learning_rate = 1e-2,
            .warmup = 3,
            .decay = true,
            .clip = 1,
            .eval_batches = 3,
            .threads = 1};
}

std::unique_ptr<LanguageModel> make_tiny(const Stage& s, const Options& o = tiny()) {
    Rng rng(o.seed, "initialisation");
    return s.make(o, V, rng);
}

Batch some_batch(int B, uint64_t seed = 1) {
    Rng rng(seed, "batch");
    return random_batch(letters().train, B, T, rng);
}

std::vector<real> weights(const Module& model) {
    std::vector<real> all;
    for (const auto& [name, tensor] : model.parameters)
        all.insert(all.end(), tensor.values().begin(), tensor.values().end());
    return all;
}
std::vector<real> gradients(const Module& model) {
    std::vector<real> all;
    for (const auto& [name, tensor] : model.parameters)
        all.insert(all.end(), tensor.grad().begin(), tensor.grad().end());
    return all;
}

// What guessing by the character before costs at least, on this one batch.
double bigram_limit(const Batch& batch) {
    std::map<int, double> before;
    std::map<std::pair<int, int>, double> pairs;
    for (size_t i = 0; i < batch.x.ids.size(); ++i) ++before[batch.x.ids[i]], ++pairs[{batch.x.ids[i], batch.y.ids[i]}];
    double nats = 0;
    for (const auto& [pair, count] : pairs) nats -= count * std::log(count / before[pair.first]);
    return nats / double(batch.x.ids.size());
}

// Losses of the steps 1, 2, 5 and 10 of each stage's golden run, measured in double. If a stage, its start or the tales
// change on purpose, so do these: the test tells the new ones.
const std::map<int, std::vector<double>> golden{
    {1, {4.58995, 4.51720, 4.47303, 4.32344}}, {2, {4.54597, 4.49879, 4.19152, 3.86727}},
    {3, {4.06867, 3.98459, 3.87646, 3.70006}}, {4, {4.09343, 4.09028, 3.85705, 3.71582}},
    {5, {4.00188, 4.01349, 3.78852, 3.59187}}, {6, {4.04993, 4.06033, 3.75197, 4.07622}},
    {7, {4.53368, 4.39511, 3.53065, 3.47956}}, {8, {4.25439, 4.18997, 3.72824, 3.50413}},
    {9, {4.19313, 4.15059, 3.64860, 3.47431}}, {10, {4.02982, 3.99627, 3.68567, 3.43553}},
    {12, {4.02960, 3.97311, 3.64844, 3.41388}}};

}  // namespace

TEST_SUITE("stages") {
    TEST_CASE("00: its loss is the ruler's bigram line, on the tales") {
        stage_00::Counts counts(tales_corpus().train, tales_corpus().vocabulary.size());
        CHECK(stage_00::loss(counts, tales_corpus().val) ==
              doctest::Approx(measure_baselines(tales_corpus()).bigram).epsilon(1e-12));
    }

    TEST_CASE("00: after any character the probabilities sum to 1, and none is 0") {
        stage_00::Counts counts({0, 1, 0, 1, 1, 3}, 5);  // 2 and 4 never come, nothing follows 3
        for (int a = 0; a < 5; ++a) {
            double total = 0;
            for (int b = 0; b < 5; ++b) {
                CHECK(counts.probability(a, b) > 0);
                total += counts.probability(a, b);
            }
            CHECK(total == doctest::Approx(1));
        }
        CHECK(counts.probability(0, 1) == doctest::Approx((2 + 4.0 / 11) / 3));
    }

    TEST_CASE("gradients of every stage's whole model against finite differences" * doctest::skip(!in_double)) {
        for (const Stage& s : all_stages()) {
            CAPTURE(s.number);
            auto model = make_tiny(s, tiny(0.2));
            Batch batch = some_batch(3);
            std::vector<Tensor> parameters;
            uint64_t seed = 0;
            for (auto& [name, tensor] : model->parameters) {  // large enough that every path matters
                std::ranges::copy(random_tensor(tensor.shape(), ++seed, 0.4).values(), tensor.values().begin());
                parameters.push_back(tensor);
            }
            auto loss = [&] {
                Rng noise(1, "dropout");
                DropoutScope training(noise);
                return cross_entropy((*model)(batch.x), batch.y);
            };
            check_gradients(loss, parameters, 20);
        }
    }

    TEST_CASE("every parameter of every stage receives gradient") {
        for (const Stage& s : all_stages()) {
            auto model = make_tiny(s);
            Batch batch = some_batch(6);
            cross_entropy((*model)(batch.x), batch.y).backward();
            for (const auto& [name, tensor] : model->parameters) {
                INFO("stage " << s.number << ", " << name);
                REQUIRE(tensor.has_grad());
                CHECK(std::ranges::any_of(tensor.grad(), [](real g) { return g != 0; }));
                CHECK(std::ranges::all_of(tensor.grad(), [](real g) { return std::isfinite(g); }));
            }
        }
    }

    TEST_CASE("every parameter of every stage is told of once, when its gradient is whole; none behind a checkpoint") {
        for (const Stage& s : all_stages())
            for (int blocks : {0, 1}) {
                CAPTURE(s.number);
                auto model = make_tiny(s);
                Batch batch = some_batch(6);
                CheckpointScope checkpointing(blocks);
                Tensor loss = cross_entropy((*model)(batch.x), batch.y);
                std::map<const Node*, std::vector<real>> told;
                {
                    GradientScope telling([&](const Node& parameter) {
                        CHECK(told.emplace(&parameter, std::vector<real>(parameter.grad.begin(), parameter.grad.end()))
                                  .second);
                    });
                    loss.backward();
                }
                if (told.empty() && blocks) continue;
                REQUIRE(told.size() == model->parameters.size());
                for (const auto& [name, tensor] : model->parameters) {
                    CAPTURE(name);
                    CHECK(told.at(tensor.node.get()) == copy(tensor.grad()));
                }
            }
    }

    TEST_CASE("parameters have names of their own, and are counted") {
        for (const Stage& s : all_stages()) {
            auto model = make_tiny(s);
            std::map<std::string, int> names;
            for (const auto& [name, tensor] : model->parameters) CHECK(++names[name] == 1);
            CHECK(model->parameter_count() == weights(*model).size());
        }
    }

    TEST_CASE("causality: changing a token leaves all earlier logits bit for bit as they were") {
        for (const Stage& s : all_stages()) {
            CAPTURE(s.number);
            auto model = make_tiny(s);
            Tokens ids = some_batch(2).x;
            Tensor before = (*model)(ids);
            for (int t = 0; t < T; ++t) {
                Tokens changed = ids;
                int& id = changed.ids[size_t(T + t)];  // in the second row
                id = (id + 1) % V;
                Tensor after = (*model)(changed);
                size_t unchanged = size_t((T + t) * V);
                CHECK(same_bytes(before.values().first(unchanged), after.values().first(unchanged)));
                CHECK_FALSE(same_bytes(before.values().subspan(unchanged, V), after.values().subspan(unchanged, V)));
                if (t == T - 1) continue;
                bool reaches_the_end = !same_bytes(before.values().last(V), after.values().last(V));
                CHECK(reaches_the_end == (s.number >= 3));  // only attention looks back
            }
        }
    }

    TEST_CASE("the model works on any length up to the block, and the past does not depend on the length") {
        for (const Stage& s : all_stages()) {
            CAPTURE(s.number);
            auto model = make_tiny(s);
            Tokens ids = some_batch(1).x;
            Tensor whole = (*model)(ids);
            for (int length = 1; length < T; ++length) {
                Tensor part = (*model)(Tokens(1, length, {ids.ids.begin(), ids.ids.begin() + length}));
                CHECK(difference(part.values(), whole.values().first(size_t(length * V))) < rounding);
            }
        }
    }

    TEST_CASE("a stage overfits one batch: attention to near zero, without it to what the last character tells") {
        Batch batch = some_batch(3);
        for (int b = 0; b < 3; ++b) batch.x.ids[size_t(b * T)] = b;  // rows that begin alike could not be told apart
        auto overfitted = [&](const Stage& s, uint64_t seed) {
            Options o = tiny();
            o.n_embd = 32, o.learning_rate = s.number < 3 ? 3e-2 : 5e-3, o.decay = false, o.weight_decay = 0;
            o.seed = seed;
            LanguageModelling objective(o, letters(), s.make);
            Trainer trainer(o, objective);
            double loss = 0;
            for (int i = 0; i < 600 && (i == 0 || loss > 0.01); ++i) loss = trainer.step(TextBatch(batch));
            return loss;
        };
        for (const Stage& s : all_stages()) {
            CAPTURE(s.number);
            double loss = overfitted(s, 1);
            // Without residual connections some starts get stuck: another one is given a chance.
            for (uint64_t seed = 2; s.number >= 3 && s.number <= 6 && loss > 0.05 && seed <= 6; ++seed)
                loss = overfitted(s, seed);
            if (s.number == 1) {
                CHECK(loss > bigram_limit(batch) - 1e-6);
                CHECK(loss < bigram_limit(batch) + 0.02);
            } else {
                CHECK(loss < (s.number == 2 ? bigram_limit(batch) : 0.05));
            }
        }
    }

    TEST_CASE("one seed, the same bytes after 20 steps; another seed, others; more evaluation changes nothing") {
        for (const Stage& s : all_stages()) {
            CAPTURE(s.number);
            auto trained = [&](uint64_t seed, int threads, int eval_interval) {
                Options o = tiny(0.1);
                o.seed = seed, o.threads = threads;
                LanguageModelling objective(o, letters(), s.make);
                Trainer trainer(o, objective);
                for (int step = 0; step < 20; ++step) {
                    if (eval_interval && step % eval_interval == 0)
                        evaluate(static_cast<LanguageModel&>(trainer.model()), letters(), o);
                    trainer.step();
                }
                return weights(trainer.model());
            };
            std::vector<real> first = trained(1, 1, 0);
            CHECK(same_bytes(first, trained(1, 1, 0)));
            CHECK(same_bytes(first, trained(1, 1, 1)));
            CHECK(same_bytes(first, trained(1, 1, 7)));
            CHECK_FALSE(same_bytes(first, trained(2, 1, 0)));
            CHECK(same_bytes(trained(1, 2, 0), trained(1, 2, 3)));
        }
    }

    TEST_CASE("two threads agree with one within rounding, and more threads than rows work") {
        for (const Stage& s : all_stages()) {
            CAPTURE(s.number);
            auto train = [&](int threads, int B) {
                Options o = tiny();
                o.threads = threads, o.batch_size = B;
                LanguageModelling objective(o, letters(), s.make);
                Trainer trainer(o, objective);
                double loss = trainer.step(TextBatch(some_batch(B)));
                return std::pair(loss, gradients(trainer.model()));
            };
            for (int B : {1, 2, 5}) {
                auto [loss, gradient] = train(1, B);
                for (int threads : {2, 4}) {
                    auto [other_loss, other_gradient] = train(threads, B);
                    CHECK(other_loss == doctest::Approx(loss).epsilon(rounding));
                    CHECK(difference(other_gradient, gradient) < 10 * rounding);
                }
            }
        }
    }

    TEST_CASE("a batch that is taken in chunks has the gradient of the whole") {
        for (const Stage& s : all_stages()) {
            CAPTURE(s.number);
            Batch batch = some_batch(700);
            auto model = make_tiny(s);
            Tensor loss = cross_entropy((*model)(batch.x), batch.y);
            loss.backward();
            Options o = tiny();
            LanguageModelling objective(o, letters(), s.make);
            Trainer trainer(o, objective);
            CHECK(trainer.step(TextBatch(batch)) == doctest::Approx(double(loss.item())).epsilon(rounding));
            CHECK(difference(gradients(trainer.model()), gradients(*model)) < 10 * rounding);
        }
    }

    TEST_CASE("09 and 10 compute what 08 does: all heads at once, and fused, are the heads one by one") {
        auto eight = make_tiny(stage("08_layernorm"));
        for (const char* later : {"09_heads", "10_gpt"}) {
            auto model = make_tiny(stage(later));
            std::map<std::string, Tensor> of_later;
            for (auto& [name, tensor] : model->parameters) of_later[name] = tensor;
            size_t copied = 0;
            // ...heads.1.key.weight (4, 8) becomes rows 4 to 7 of ...key.weight (8, 8)
            auto place_of = [](const std::string& name, const Tensor& tensor) {
                size_t head = name.find("heads.");
                if (head == name.npos) return std::pair(name, size_t{0});
                return std::pair(name.substr(0, head) + name.substr(head + 8),
                                 size_t(name[head + 6] - '0') * tensor.count());
            };
            for (const auto& [name, tensor] : eight->parameters) {
                auto [target, offset] = place_of(name, tensor);
                REQUIRE(of_later.contains(target));
                std::ranges::copy(tensor.values(), of_later[target].values().begin() + std::ptrdiff_t(offset));
                copied += tensor.count();
            }
            CHECK(copied == model->parameter_count());
            Batch batch = some_batch(3);
            CHECK(difference((*eight)(batch.x).values(), (*model)(batch.x).values()) < rounding);
            cross_entropy((*eight)(batch.x), batch.y).backward();
            cross_entropy((*model)(batch.x), batch.y).backward();
            for (const auto& [name, tensor] : eight->parameters) {
                auto [target, offset] = place_of(name, tensor);
                CAPTURE(name);
                CHECK(difference(tensor.grad(), of_later[target].grad().subspan(offset, tensor.count())) <
                      10 * rounding);
            }
            for (auto& [name, tensor] : eight->parameters) Tensor(tensor).clear_grad();
        }
    }

    TEST_CASE("10: places start as waves, so that neighbours are alike, and equally so wherever they stand") {
        Tensor table = Tensor::zeros({8, 4});
        fill_sinusoids(table, 0.5);
        auto row = [&](size_t place) { return table.values().subspan(4 * place, 4); };
        CHECK(difference(row(0), std::vector<real>{0, 0.5, 0, 0.5}) == 0);
        std::vector<real> third;
        for (double angle : {3.0, 0.03})
            third.push_back(real(std::sin(angle) / 2)), third.push_back(real(std::cos(angle) / 2));
        CHECK(difference(row(3), third) < 1e-6);
        auto alike = [&](size_t a, size_t b) {
            return std::inner_product(row(a).begin(), row(a).end(), row(b).begin(), 0.0);
        };
        CHECK(alike(1, 2) == doctest::Approx(alike(6, 7)));
        CHECK(alike(1, 2) > alike(1, 4) + 0.1);
    }

    TEST_CASE("golden runs: ten steps on the tales, the same losses as ever") {
        for (const Stage& s : all_stages()) {
            Options o = tiny(s.number >= 10 ? 0.1 : 0);
            o.block_size = 16, o.n_embd = 16;
            LanguageModelling objective(o, tales_corpus(), s.make);
            Trainer trainer(o, objective);
            std::vector<double> losses;
            for (int i = 0; i < 10; ++i) losses.push_back(trainer.step());
            std::vector<double> some{losses[0], losses[1], losses[4], losses[9]};
            char measured[80];
            std::snprintf(measured, sizeof measured, "%.5f, %.5f, %.5f, %.5f", some[0], some[1], some[2], some[3]);
            INFO("stage " << s.number << " measured {" << std::string(measured) << "}");
            for (size_t i = 0; i < 4; ++i) CHECK(std::abs(some[i] - golden.at(s.number)[i]) < 1e-3);
        }
    }
}
