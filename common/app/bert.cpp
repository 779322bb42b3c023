#include "common/app/bert.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/app/attention_maps.h"
#include "common/app/command_line.h"
#include "common/app/main.h"
#include "common/base/files.h"
#include "common/base/format.h"
#include "common/base/thread_pool.h"
#include "common/train/pretrained.h"
#include "common/train/training_loop.h"
#include "common/write/display.h"
#include "common/write/fill.h"

namespace babygpt {

namespace {

constexpr int smallest_block = 8;

// What the model saw and thought on its way to an answer, as the options ask: output_attentions, output_hidden_states.
void show_inside(const Reader& reader, BertInput input, const Options& options) {
    if (options.show.empty() && options.svg.empty() && options.hidden.empty()) return;
    NoGrad looking;
    std::vector<Tensor> hidden_states, attentions;
    input.hidden_states = &hidden_states, input.attentions = &attentions;
    reader.model(input);
    std::vector<std::string> names = names_of(reader.tokenizer, input.input_ids->ids);
    std::vector<HeatMap> maps = attention_maps(attentions, names, reader.pruned_heads);
    if (!options.show.empty())
        for (const HeatMap& map : maps) print_map(map);
    for (const std::string& path : {options.svg, options.hidden}) check_no_file_of(options.model, path);
    if (!options.svg.empty()) write_whole(options.svg, draw("where each head looks", maps));
    if (options.hidden.empty()) return;
    Checkpoint file;
    for (size_t i = 0; i < hidden_states.size(); ++i)
        file.tensors.push_back({str("hidden_states.", i), hidden_states[i]});
    for (size_t i = 0; i < attentions.size(); ++i) file.tensors.push_back({str("attentions.", i), attentions[i]});
    file.metadata["tokens"] = nlohmann::json(names).dump();
    write_whole(options.hidden, to_safetensors(file));
}

void fill(const Reader& reader, const std::vector<std::string>& texts, const Options& options) {
    Filled filled = fill_blanks(reader, texts);
    for (const Blank& blank : filled.blanks) {
        std::printf("blank %d ", blank.number);
        for (const Guess& guess : blank.guesses)
            std::printf("  %s %.3f", visible(guess.token).c_str(), guess.probability);
        std::printf("\n");
    }
    for (const std::string& text : filled.texts) print(text + "\n");
    flush_output();  // before a picture that goes to standard output, too
    show_inside(reader, filled.input, options);
}

}  // namespace

void answer(Command command, const Reader& reader, const Options& options) {
    if (command == Command::follows) {
        Follows follows = second_follows(reader, options.texts[0], options.texts[1]);
        std::printf("%.4f\n", follows.probability);
        show_inside(reader, follows.input, options);
    } else if (options.texts[0] == "-") {
        int number = 1;
        std::vector<std::string> texts = options.texts;  // the second, if there is one, belongs to each line
        for (; read_line(texts[0]); ++number) try {
                if (texts[0].find('_') == std::string::npos)  // nothing to guess
                    print(texts[0] + "\n");
                else
                    fill(reader, texts, options);
            } catch (const Error& error) {
                fail("line ", number, ": ", error.what());
            }
    } else {
        fill(reader, options.texts, options);
    }
    flush_output();
}

namespace {

LoadedBert load_run(const std::string& file, const Options& stage, const MakeBert& make_model) {
    SavedModel saved = load_model(file, stage);
    auto tokenizer = std::make_unique<CharacterTokenizer>(saved.vocabulary);
    auto model = make_from(saved.checkpoint, file, make_model, bert_config(saved.options, tokenizer->size()));
    return {std::move(model), std::move(tokenizer), saved.options.block_size};
}

}  // namespace

LoadedBert load_hugging_face(const std::string& directory, Command command, const MakeBert& make_model) {
    Pretrained saved = load_pretrained(directory);
    if (command == Command::fill && !saved.has_predictions)
        fail("the model in ", directory, " cannot fill blanks: it was saved without its head cls.predictions");
    if (command == Command::follows && !(saved.has_pooler && saved.has_seq_relationship))
        fail("the model in ", directory, " cannot tell what follows: it was saved without ",
             saved.has_pooler ? "its head cls.seq_relationship" : "its pooler");
    NoInitWeights from_file;
    Rng unused(0);
    auto model = make_model(saved.config, unused);
    auto is_missing = [&](const Module::Parameter& parameter) {
        auto of = [&](const char* part) { return parameter.name.starts_with(part); };
        return (!saved.has_pooler && of("bert.pooler.")) || (!saved.has_predictions && of("cls.predictions.")) ||
               (!saved.has_seq_relationship && of("cls.seq_relationship."));
    };
    std::vector<Module::Parameter> there = model->parameters;
    std::erase_if(there, is_missing);
    restore(there, saved.checkpoint, "", directory);
    return {std::move(model), std::move(saved.tokenizer), saved.config.max_position_embeddings};
}

namespace {

LoadedBert load_bert(const Options& options, Command command, const Options& stage, const MakeBert& make_model) {
    auto exists = [](const std::string& file) {
        std::error_code error;
        return std::filesystem::exists(file, error);
    };
    std::string file = best_file(options.model);
    if (exists(options.model + "/config.json") && (!exists(file) || saved_by(file).empty()))
        return load_hugging_face(options.model, command, make_model);
    return load_run(file, stage, make_model);
}

}  // namespace

int run_bert(int argc, char** argv, Options defaults, const MakeBert& make_model) {
    defaults.task = Task::fill;
    return guarded(defaults.stage, [&] {
        Options options = defaults;
        if (Command command = parse_options(argc, argv, options); command != Command::train) {
            LoadedBert bert = load_bert(options, command, defaults, make_model);
            return with_helper(thread_count(options), [&] {
                answer(command, {*bert.model, *bert.tokenizer, bert.max_tokens}, options);
            });
        }
        prepare_training(argc, argv, options, defaults);
        if (options.block_size < smallest_block)
            fail("--block-size ", options.block_size, " has no room for [CLS] a [SEP] b [SEP]; give ", smallest_block,
                 " or more");
        Sentences text = load_sentences(options.data);
        train_objective(options, PreTraining(options, text, make_model));
    });
}

}  // namespace babygpt
