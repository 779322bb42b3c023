#include "common/app/translate.h"

#include <unistd.h>

#include <cstdio>

#include "common/app/attention_maps.h"
#include "common/app/command_line.h"
#include "common/app/main.h"
#include "common/base/files.h"
#include "common/base/format.h"
#include "common/train/training_loop.h"
#include "common/write/display.h"
#include "common/write/translator.h"

namespace babygpt {

namespace {

// Which characters of the text each written one looked at. [CLS] and [SEP] are shown as the brackets around a text.
void show_alignment(const Translator& translator, const std::string& text, const std::string& translation,
                    const Options& options) {
    if (options.show.empty() && options.svg.empty()) return;
    const Tokenizer& t = translator.tokenizer;
    Alignment alignment = align(translator, text, translation);
    auto names = [&](const std::vector<int>& ids) {
        std::vector<std::string> all = names_of(t, ids);
        for (size_t i = 0; i < ids.size(); ++i)
            if (ids[i] == t.cls || ids[i] == t.sep) all[i] = ids[i] == t.cls ? "[" : "]";
        return all;
    };
    std::vector<HeatMap> maps;
    for (size_t layer = 0; layer < alignment.cross_attentions.size(); ++layer)
        maps.push_back(mean_map(str("layer ", layer, ", mean of its heads"), alignment.cross_attentions[layer],
                                names(alignment.written), names(alignment.read)));
    if (!options.show.empty())
        for (const HeatMap& map : maps) print_map(map);
    check_no_file_of(options.model, options.svg);
    if (!options.svg.empty()) write_whole(options.svg, draw("which characters each written one looked at", maps));
}

void translate_and_show(const Translator& translator, const std::vector<std::string>& texts, const Options& options) {
    std::vector<std::string> translations = translate(translator, texts);
    size_t room = size_t(translator.max_tokens) - 1;  // after [CLS]
    for (size_t i = 0; i < texts.size(); ++i) {
        print(translations[i] + "\n");
        if (utf8_length(translations[i]) == room)
            std::fprintf(stderr, "warning: the translation of \"%s\" may lack its end: it fills all %zu places\n",
                         texts[i].c_str(), room);
        show_alignment(translator, texts[i], translations[i], options);
    }
    std::fflush(stdout);
}

// A person wants each line answered at once; a pipe is faster with many side by side.
void translate_lines(const Translator& translator, const Options& options) {
    const size_t side_by_side = isatty(STDIN_FILENO) ? 1 : 32;
    size_t number = 0;
    for (bool more = true; more;) {
        std::vector<std::string> lines;
        std::string line;
        while (lines.size() < side_by_side && (more = read_line(line))) {
            ++number;
            try {
                encoder_tokens(translator, line);
            } catch (const Error& error) {  // what came before it is translated
                if (!lines.empty()) translate_and_show(translator, lines, options);
                fail("line ", number, ": ", error.what());
            }
            lines.push_back(line);
        }
        if (!lines.empty()) translate_and_show(translator, lines, options);
    }
}

}  // namespace

int run_translate(int argc, char** argv, Options defaults, const MakeTranslator& make_model) {
    defaults.task = Task::translate;
    return guarded(defaults.stage, [&] {
        Options options = defaults;
        if (parse_options(argc, argv, options) == Command::translate) {
            std::string file = best_file(options.model);
            SavedModel saved = load_model(file, defaults);
            CharacterTokenizer tokenizer(saved.vocabulary);
            auto model = make_from(saved.checkpoint, file, make_model, bert_config(saved.options, tokenizer.size()));
            Translator translator{*model, tokenizer, saved.options.block_size};
            if (options.texts[0] == "-") return translate_lines(translator, options);
            return translate_and_show(translator, {options.texts[0]}, options);
        }
        prepare_training(argc, argv, options, defaults);
        ParallelCorpus text = load_pairs(options.data);
        train_objective(options, Translation(options, text, make_model));
    });
}

}  // namespace babygpt
