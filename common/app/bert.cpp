#include "common/app/bert.h"

#include <cstdio>
#include <iostream>

#include "common/app/command_line.h"
#include "common/app/main.h"
#include "common/app/maps.h"
#include "common/base/files.h"
#include "common/base/format.h"
#include "common/train/train.h"
#include "common/write/display.h"
#include "common/write/fill.h"

namespace babygpt {

namespace {

// One map for each head: row i shows where token i looks.
std::vector<HeatMap> attention_maps(const std::vector<Tensor>& attentions, const std::vector<std::string>& names) {
    std::vector<HeatMap> maps;
    for (size_t layer = 0; layer < attentions.size(); ++layer)
        for (int head = 0; head < attentions[layer].size(1); ++head)
            maps.push_back(map_of(str("layer ", layer, ", head ", head), attentions[layer], head, names, names));
    return maps;
}

// What the model saw and thought on its way to an answer, as the options ask: output_attentions, output_hidden_states.
void show_inside(const Reader& reader, BertInput input, const Options& options) {
    if (options.show.empty() && options.svg.empty() && options.hidden.empty()) return;
    NoGrad looking;
    std::vector<Tensor> hidden_states, attentions;
    input.hidden_states = &hidden_states, input.attentions = &attentions;
    reader.model(input);
    std::vector<std::string> names = names_of(reader.tokenizer, input.input_ids->ids);
    std::vector<HeatMap> maps = attention_maps(attentions, names);
    if (!options.show.empty())
        for (const HeatMap& map : maps) print_map(map);
    if (!options.svg.empty()) write_whole(options.svg, draw("where each head looks", maps));
    if (options.hidden.empty()) return;
    Checkpoint file;
    for (size_t i = 0; i < hidden_states.size(); ++i)
        file.tensors.push_back({str("hidden_states.", i), hidden_states[i]});
    for (size_t i = 0; i < attentions.size(); ++i) file.tensors.push_back({str("attentions.", i), attentions[i]});
    write_whole(options.hidden, to_safetensors(file));
}

void fill(const Reader& reader, const std::string& text, const Options& options) {
    Filled filled = fill_blanks(reader, text);
    for (const Blank& blank : filled.blanks) {
        std::printf("blank %d ", blank.number);
        for (const Guess& guess : blank.guesses) std::printf("  %s %.3f", guess.token.c_str(), guess.probability);
        std::printf("\n");
    }
    std::printf("%s\n", filled.text.c_str());
    show_inside(reader, filled.input, options);
}

void answer(Command command, const Reader& reader, const Options& options) {
    if (command == Command::follows) {
        Follows follows = second_follows(reader, options.texts[0], options.texts[1]);
        std::printf("%.4f\n", follows.probability);
        show_inside(reader, follows.input, options);
    } else if (options.texts[0] == "-") {
        for (std::string line; std::getline(std::cin, line);) fill(reader, line, options);
    } else {
        fill(reader, options.texts[0], options);
    }
    flush_output();
}

}  // namespace

int run_bert(int argc, char** argv, Options defaults, const MakeBert& make_model) {
    defaults.task = Task::fill;
    return guarded(defaults.stage, [&] {
        Options options = defaults;
        if (Command command = parse_options(argc, argv, options); command != Command::train) {
            std::string file = options.model + "/model.safetensors";
            SavedModel saved = load_model(file, defaults);
            CharacterTokenizer tokenizer(saved.vocabulary);
            Rng unused(0);
            auto model = make_model(bert_config(saved.options, int(tokenizer.tokens.size())), unused);
            restore(model->parameters, saved.checkpoint, "", file);
            return answer(command, {*model, tokenizer, saved.options.block_size}, options);
        }
        prepare_training(argc, argv, options, defaults);
        Sentences text = load_sentences(options.data);
        train_objective(options, PreTraining(options, text, make_model));
    });
}

}  // namespace babygpt
