// Stages 13 to 16 with layers that are computed again: the same gradients in less memory.
#include "common/app/whole_chunks.h"
#include "common/tensor/allocator.h"
#include "common/train/pretraining.h"
#include "common/train/training_step.h"
#include "common/train/translation.h"
#include "tests/check.h"
#include "tests/fixture.h"

#include "common/babygpt.h"
#define main stage_main
namespace stage16 {
#include "stages/16_memory.cpp"
}
namespace recompute_test {
namespace stage13 {
#include "stages/13_bert.cpp"
}
namespace stage14 {
#include "stages/14_translate.cpp"
}
namespace stage15 {
#include "stages/15_prune.cpp"
}
}  // namespace recompute_test
#undef main

using namespace babygpt;
using namespace recompute_test;

namespace {

BertConfig sizes(int layers = 5, double dropout = 0.1) {
    return {.vocab_size = 23,
            .hidden_size = 16,
            .num_hidden_layers = layers,
            .num_attention_heads = 4,
            .intermediate_size = 24,
            .hidden_dropout_prob = dropout,
            .attention_probs_dropout_prob = dropout,
            .max_position_embeddings = 12};
}

BertInput input(int T = 8) {
    Tokens ids(2, T);
    Rng rng(3);
    for (int& id : ids.ids) id = 1 + int(rng.below(22));
    return {.input_ids = ids, .attention_mask = padding({T, T - 2}, T)};
}

std::vector<real> gradients_of(const Module& model) {
    std::vector<real> all;
    for (const auto& [name, tensor] : model.parameters)
        all.insert(all.end(), tensor.grad().begin(), tensor.grad().end());
    return all;
}

// The gradients of a step; peak is what it took at most, beyond what was there.
template <class Model = stage16::Model>
std::vector<real> step(const BertConfig& config, const BertInput& in, size_t* peak = nullptr) {
    Rng start(1), masks(2);
    Model model(config, start);
    for (int i = 0; i < (peak ? 2 : 1); ++i) {  // the first also makes room for gradients
        for (Module::Parameter& parameter : model.parameters) parameter.tensor.clear_grad();
        size_t before = live_bytes();
        reset_peak();
        DropoutScope training(masks);
        BertForPreTrainingOutput out = model(in);
        Tensor loss = cross_entropy(out.prediction_logits, *in.input_ids) +
                      cross_entropy(out.seq_relationship_logits, Tokens(in.input_ids->B, 1));
        out = {};
        loss.backward();
        if (peak) *peak = peak_bytes() - before;
    }
    return gradients_of(model);
}

// The same of 14: the decoder's layers all look at what the encoder has read.
std::vector<real> translator_step(int layers, size_t* peak = nullptr) {
    Rng start(1), masks(2);
    stage14::Model model(sizes(layers), start);
    auto run = [&] {
        for (Module::Parameter& parameter : model.parameters) parameter.tensor.clear_grad();
        DropoutScope training(masks);
        BertInput read = input(8), written = input(7);
        written.encoder_hidden_states = model.encode(read), written.encoder_attention_mask = read.attention_mask;
        Tensor loss = cross_entropy(model.decode(written), *written.input_ids);
        written.encoder_hidden_states = {};
        loss.backward();
    };
    if (peak) run();  // makes room for gradients
    size_t before = live_bytes();
    reset_peak();
    run();
    if (peak) *peak = peak_bytes() - before;
    return gradients_of(model);
}

const Sentences& tales() {
    static const Sentences text = load_sentences("tales");
    return text;
}

Options small_options(int checkpoint, int threads) {
    return {.stage = "16_memory",
            .batch_size = 4,
            .block_size = 128,
            .n_embd = 16,
            .n_head = 2,
            .n_layer = 3,
            .positions = "relative_key",
            .dropout = 0.1,
            .steps = 4,
            .learning_rate = 1e-2,
            .threads = threads,
            .checkpoint = checkpoint};
}

std::vector<double> losses(const Options& o, const Objective& objective) {
    Trainer trainer(o, objective);
    std::vector<double> all;
    for (int i = 0; i < 4; ++i) all.push_back(trainer.step());
    return all;
}
template <class Model>
std::vector<double> losses(int checkpoint, int threads) {
    Options o = small_options(checkpoint, threads);
    return losses(o, PreTraining(o, tales(), maker<Model>()));
}
template <>
std::vector<double> losses<stage14::Model>(int checkpoint, int threads) {
    static const ParallelCorpus pairs = load_pairs("pairs");
    Options o = small_options(checkpoint, threads);
    return losses(o, Translation(o, pairs, maker<stage14::Model>()));
}

}  // namespace

TEST_SUITE("recompute") {
    TEST_CASE("13, 14, 15: every k gives the same gradients to the bit, with dropout, in less memory") {
        std::vector<real> bert = step<stage13::Model>(sizes(), input()),
                          prunable = step<stage15::Model>(sizes(), input()), translator = translator_step(5);
        size_t plain[3], less[3];
        step<stage13::Model>(sizes(12), input(), &plain[0]), step<stage15::Model>(sizes(12), input(), &plain[1]);
        translator_step(12, &plain[2]);
        for (int k : {1, 2, 3, 4, 5, 6}) {
            CAPTURE(k);
            CheckpointScope checkpointing(k);
            CHECK(same_bytes(step<stage13::Model>(sizes(), input()), bert));
            CHECK(same_bytes(step<stage15::Model>(sizes(), input()), prunable));
            CHECK(same_bytes(translator_step(5), translator));
        }
        CheckpointScope checkpointing(1);
        step<stage13::Model>(sizes(12), input(), &less[0]), step<stage15::Model>(sizes(12), input(), &less[1]);
        translator_step(12, &less[2]);
        for (int i : {0, 1, 2}) CHECK(double(less[i]) < 0.35 * double(plain[i]));
    }

    TEST_CASE("15: a head mask gets its gradient through checkpoints, and so does what it is computed from") {
        Tensor gates = random_tensor({5, 4}, 6);
        for (bool computed : {false, true}) {
            CAPTURE(computed);
            auto gradient = [&](int k) {
                gates.clear_grad();
                BertInput in = input();
                in.head_mask = computed ? tanh(gates) : gates;
                CheckpointScope checkpointing(k);
                step<stage15::Model>(sizes(), in);
                return copy(gates.grad());
            };
            for (int k : {1, 2}) CHECK(gradient(k) == gradient(0));
        }
    }

    TEST_CASE("13, 14, 15: what is to be kept is refused while layers are computed again, but for reading") {
        Rng rng(1);
        stage13::Model bert(sizes(), rng);
        stage14::Model translator(sizes(), rng);
        CheckpointScope checkpointing(2);
        std::vector<Tensor> kept;
        std::vector<PastKeyValue> past;
        BertInput states = input(), maps = input(), cross = input(), cache = input();
        states.hidden_states = &kept, maps.attentions = &kept, cross.cross_attentions = &kept;
        cache.past_key_values = &past;
        for (const BertInput& wrong : {states, maps})
            check_error([&] { bert(wrong); }, {"incompatible with gradient checkpointing"});
        for (const BertInput& wrong : {states, maps, cross, cache})
            check_error([&] { translator.decode(wrong); }, {"incompatible with gradient checkpointing"});
        NoGrad reading;
        bert(states);
        CHECK(kept.size() == 6);
    }

    TEST_CASE("what a model would ignore is refused: head masks outside of 15, an encoder's states outside of 14") {
        Rng rng(1);
        stage13::Model bert(sizes(), rng);
        stage14::Model translator(sizes(), rng);
        stage15::Model prunable(sizes(), rng);
        stage16::Model small(sizes(), rng);
        std::vector<Tensor> kept;
        std::vector<PastKeyValue> past;
        BertInput masked = input(), told = input(), cache = input(), cross = input();
        masked.head_mask = Tensor::zeros({4}), told.encoder_hidden_states = Tensor::zeros({2, 3, 16});
        cache.past_key_values = &past, cross.cross_attentions = &kept;
        const std::vector<const PreTrainingModel*> of_pairs{&bert, &small, &prunable};
        for (size_t i : {0, 1}) check_error([&] { (*of_pairs[i])(masked); }, {"would ignore head_mask", "stage 15"});
        check_error([&] { translator.encode(masked); }, {"would ignore head_mask"});
        for (const PreTrainingModel* model : of_pairs)
            for (const BertInput& wrong : {told, cache, cross})
                check_error([&] { (*model)(wrong); }, {"would ignore encoder_hidden_states", "stage 14"});
        CHECK_NOTHROW(prunable(masked));
        CHECK_NOTHROW(translator.decode(told));
        CHECK_NOTHROW(translator.decode(cache));
    }

    TEST_CASE("16: every k gives the gradients of 13 to the bit, also one that does not divide the layers") {
        std::vector<real> expected = step<stage13::Model>(sizes(), input());
        for (int k : {0, 1, 2, 3, 4, 5, 6, 1000}) {
            CAPTURE(k);
            BertConfig config = sizes();
            config.gradient_checkpointing = k;
            CHECK(same_bytes(step(config, input()), expected));
        }
    }

    TEST_CASE("16: chunks give the same numbers and gradients, alone and within checkpoints") {
        std::vector<real> expected = step(sizes(3, 0), input());
        for (int k : {0, 1, 2})
            for (int chunk : {1, 2, 4, 8}) {
                BertConfig config = sizes(3, 0);
                config.gradient_checkpointing = k, config.chunk_size_feed_forward = chunk;
                CHECK(difference(step(config, input()), expected) < 10 * rounding);
            }
        BertConfig negative = sizes(3, 0);
        negative.chunk_size_feed_forward = -2;  // as 0, in the original too
        CHECK(same_bytes(step(negative, input()), expected));
    }

    TEST_CASE("16: with dropout, chunks within checkpoints are computed again with the masks of the first time") {
        BertConfig chunked = sizes(), both = sizes();
        chunked.chunk_size_feed_forward = both.chunk_size_feed_forward = 4, both.gradient_checkpointing = 2;
        CHECK(same_bytes(step(chunked, input()), step(both, input())));
    }

    TEST_CASE("16: what the original refuses: chunks that do not fit, and keeping what is computed twice") {
        BertConfig config = sizes();
        config.chunk_size_feed_forward = 2, config.gradient_checkpointing = 1;
        check_error([&] { step(config, input(7)); },
                    {"The dimension to be chunked 7 has to be a multiple of the chunk size 2"});
        Rng rng(1);
        stage16::Model model(config, rng);
        std::vector<Tensor> kept;
        BertInput states = input(), maps = input();
        states.hidden_states = &kept, maps.attentions = &kept;
        check_error([&] { model(states); }, {"incompatible with gradient checkpointing", "NoGrad"});
        check_error([&] { model(maps); }, {"incompatible with gradient checkpointing"});
        NoGrad reading;
        kept.clear();
        model(states);
        CHECK(kept.size() == 6);
    }

    TEST_CASE("16: a text that is padded to whole chunks gives what it gives alone; what cannot be padded is refused") {
        auto model = [](int chunk) {
            BertConfig config = sizes();
            config.chunk_size_feed_forward = chunk;
            Rng rng(1);
            return std::make_unique<stage16::Model>(config, rng);
        };
        std::unique_ptr<PreTrainingModel> chunked = whole_chunks(model(4), 4), plain = model(0);
        NoGrad reading;
        for (int T : {3, 4, 7, 8})
            for (const BertInput& in : {input(T), BertInput{.input_ids = input(T).input_ids}}) {
                BertForPreTrainingOutput padded = (*chunked)(in), alone = (*plain)(in);
                check_answer(padded.prediction_logits, alone.prediction_logits, 10 * rounding);
                check_answer(padded.seq_relationship_logits, alone.seq_relationship_logits, 10 * rounding);
            }
        std::vector<Tensor> kept;
        BertInput states = input(), maps = input(), masked = input(), embedded;
        states.hidden_states = &kept, maps.attentions = &kept, masked.head_mask = Tensor::zeros({4});
        embedded.inputs_embeds = Tensor::zeros({1, 4, 16});
        for (const BertInput& wrong : {states, maps, embedded})
            check_error([&] { (*chunked)(wrong); }, {"not passed on", "without --chunk"});
        check_error([&] { (*chunked)(masked); }, {"would ignore head_mask"});
        for (const Shape& shape : {Shape{2, 1, 8, 8}, Shape{1, 1, 1, 8}}) {
            BertInput other = input();
            other.attention_mask = padding(std::vector<int>(size_t(shape[0] * shape[2]), 7), 8);
            other.attention_mask.shape = shape;
            check_error([&] { (*chunked)(other); }, {"attention_mask has to be (2,1,1,8), not " + to_string(shape)});
        }
    }

    TEST_CASE("16: less at the peak, for checkpoints, for chunks, and least for both") {
        BertInput in = input(12);
        auto peak = [&](int k, int chunk) {
            BertConfig config = sizes(12);
            config.gradient_checkpointing = k, config.chunk_size_feed_forward = chunk;
            config.intermediate_size = 64;
            size_t bytes = 0;
            step(config, in, &bytes);
            return double(bytes);
        };
        double plain = peak(0, 0);
        CHECK(peak(1, 0) < 0.25 * plain);
        CHECK(peak(3, 0) < 0.6 * plain);
        CHECK(peak(0, 2) < 0.8 * plain);
        CHECK(peak(1, 2) < peak(1, 0));
        CHECK(peak(12, 0) == plain);
        NoGrad reading;  // where nothing is kept, the widest layer decides
        BertConfig config = sizes(2);
        config.intermediate_size = 640;
        auto reads = [&](int chunk) {
            config.chunk_size_feed_forward = chunk;
            Rng rng(1);
            stage16::Model model(config, rng);
            size_t before = live_bytes();
            reset_peak();
            model(in);
            return double(peak_bytes() - before);
        };
        CHECK(reads(2) < 0.5 * reads(0));
    }

    TEST_CASE("13 to 16: training goes the same way to the bit, on one thread and on two") {
        for (auto train :
             {losses<stage13::Model>, losses<stage14::Model>, losses<stage15::Model>, losses<stage16::Model>})
            for (int threads : {1, 2}) {
                CAPTURE(threads);
                std::vector<double> expected = train(0, threads);
                for (int k : {1, 2, 3}) CHECK(train(k, threads) == expected);
            }
    }
}
