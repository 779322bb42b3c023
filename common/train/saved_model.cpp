#include "common/train/saved_model.h"

#include <charconv>
#include <filesystem>

#include "common/base/format.h"
#include "common/text/utf8.h"
#include "common/train/ranks.h"

namespace babygpt {

Checkpoint describe_model(const Options& options, const Corpus& corpus, const Module& model, int step,
                          double train_loss, double val_loss) {
    std::map<std::string, std::string> metadata{{"stage", options.stage},
                                                {"options", options_to_json(options)},
                                                {"vocabulary", encode_utf8(corpus.vocabulary.characters)},
                                                {"corpus", corpus.name},
                                                {"corpus_hash", std::to_string(corpus.hash)},
                                                {"step", std::to_string(step)},
                                                {"train_loss", std::to_string(train_loss)},
                                                {"val_loss", std::to_string(val_loss)}};
    if (!options.program.empty()) metadata["program"] = options.program;
    return {metadata, model.parameters};
}

namespace {

SavedModel understand(Checkpoint checkpoint, const std::string& file, const Options& stage) {
    if (const std::string& its = checkpoint.about("stage", file); its != stage.stage)
        fail(file, " was saved by ", brief(its), "; use that program, or train with this one");
    Options options = options_from_json(checkpoint.about("options", file), file, stage);
    if (options.stage != stage.stage) fail(file, " is damaged: its options are those of ", brief(options.stage));
    if (auto changed = checkpoint.metadata.find("program"); changed != checkpoint.metadata.end())
        options.program = changed->second;
    std::u32string characters = decode_utf8(checkpoint.about("vocabulary", file), file + "'s vocabulary", true);
    Vocabulary vocabulary(characters);
    if (vocabulary.characters != characters)
        fail(file, " is damaged: its vocabulary is not in order, or has a character twice");
    // A model is built before it is filled, so its sizes must be ones that the file can fill.
    double numbers = 0;
    for (const auto& [name, tensor] : checkpoint.tensors) numbers += double(tensor.count());
    const double C = options.n_embd, V = vocabulary.size(), T = options.block_size;
    const bool by_distance = options.positions.starts_with("relative") && stage.task == Task::write;  // BERTs have both
    const double places = by_distance ? (2 * T - 1) * C / options.n_head : T * C;
    if (V < 1 || V * C + places > numbers || (C == 0 && V * V > numbers) || C * C * options.n_layer > numbers ||
        options.n_layer > double(checkpoint.tensors.size()))
        fail(file, " is damaged: its options and its vocabulary do not fit its tensors");
    const std::string& digits = checkpoint.about("corpus_hash", file);
    uint64_t hash = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), hash);
    if (error != std::errc() || end != digits.data() + digits.size())
        fail(file, " is damaged: its corpus_hash is ", brief(digits));
    return {options, vocabulary, hash, std::move(checkpoint)};
}

}  // namespace

SavedModel parse_model(std::string_view bytes, const std::string& file, const Options& stage) {
    return understand(from_safetensors(bytes, file), file, stage);
}

SavedModel load_model(const std::string& file, const Options& stage) {
    std::error_code error;
    const std::string directory = std::filesystem::path(file).parent_path();
    if (std::filesystem::is_regular_file(directory, error))
        fail("there is no model in ", directory, ": it is a file; give the directory of a run");
    if (ranks::first() && !std::filesystem::exists(file, error) && !error)  // MappedFile tells the error
        fail("there is no model in ", directory, "; train one first with build/", stage.stage, " --out ", directory,
             " (no ", file, ")");
    return understand(load_safetensors(file), file, stage);
}

std::string saved_by(const std::string& file) { return load_metadata(file)["stage"]; }

}  // namespace babygpt
