#include "common/app/bert.h"

#include <cstdio>
#include <iostream>

#include "common/app/command_line.h"
#include "common/app/main.h"
#include "common/base/files.h"
#include "common/base/format.h"
#include "common/draw/svg.h"
#include "common/train/train.h"
#include "common/write/display.h"
#include "common/write/fill.h"

namespace babygpt {

namespace {

std::vector<std::string> names_of(const Tokenizer& tokenizer, const Tokens& ids) {
    std::vector<std::string> names;
    for (int id : ids.ids) names.push_back(tokenizer.tokens[size_t(id)] == " " ? "␣" : tokenizer.tokens[size_t(id)]);
    return names;
}

// One map for each head: row i shows where token i looks.
std::vector<HeatMap> attention_maps(const std::vector<Tensor>& attentions, const std::vector<std::string>& names) {
    std::vector<HeatMap> maps;
    size_t T = names.size();
    for (size_t layer = 0; layer < attentions.size(); ++layer) {
        std::span<const real> weights = attentions[layer].values();  // (1, heads, T, T)
        for (int head = 0; head < attentions[layer].size(1); ++head) {
            HeatMap map{str("layer ", layer, ", head ", head), names, names, {}};
            for (size_t i = 0; i < T; ++i, weights = weights.subspan(T))
                map.values.emplace_back(weights.begin(), weights.begin() + std::ptrdiff_t(T));
            maps.push_back(std::move(map));
        }
    }
    return maps;
}

void print_map(const HeatMap& map) {
    const std::vector<std::string> shades{"·", "░", "▒", "▓", "█"};
    std::printf("\n%s\n", map.name.c_str());
    for (size_t i = 0; i < map.rows.size(); ++i) {
        std::string line;
        for (double weight : map.values[i]) line += shades[std::min<size_t>(4, size_t(weight * 5))];
        std::printf("%6s  %s\n", map.rows[i].c_str(), line.c_str());
    }
}

// What the model saw and thought on its way to an answer, as the options ask: output_attentions, output_hidden_states.
void show_inside(const Reader& reader, BertInput input, const Options& options) {
    if (options.show.empty() && options.svg.empty() && options.hidden.empty()) return;
    NoGrad looking;
    std::vector<Tensor> hidden_states, attentions;
    input.hidden_states = &hidden_states, input.attentions = &attentions;
    reader.model(input);
    std::vector<std::string> names = names_of(reader.tokenizer, *input.input_ids);
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
