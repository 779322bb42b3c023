#include "common/train/pretrained.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <variant>

#include "common/base/files.h"
#include "common/base/format.h"
#include "common/text/utf8.h"
#include "common/text/wordpiece.h"

namespace babygpt {

namespace {

namespace fs = std::filesystem;
using nlohmann::json, nlohmann::ordered_json;

constexpr double thousand = 1e3, million = 1e6;

struct Field {
    const char* name;
    std::variant<int BertConfig::*, double BertConfig::*, std::string BertConfig::*> field;
    double least = 0, most = 0;
    std::vector<std::string> words = {};  // the values of a field that is text
};

const std::vector<Field>& fields() {
    using C = BertConfig;
    static const std::vector<Field> table{
        {"vocab_size", &C::vocab_size, 1, million},
        {"hidden_size", &C::hidden_size, 1, million},
        {"num_hidden_layers", &C::num_hidden_layers, 1, thousand},
        {"num_attention_heads", &C::num_attention_heads, 1, million},
        {"intermediate_size", &C::intermediate_size, 1, million},
        {"hidden_act", &C::hidden_act, 0, 0, {"gelu", "gelu_new"}},
        {"hidden_dropout_prob", &C::hidden_dropout_prob, 0, 0.99},
        {"attention_probs_dropout_prob", &C::attention_probs_dropout_prob, 0, 0.99},
        {"max_position_embeddings", &C::max_position_embeddings, 1, million},
        {"type_vocab_size", &C::type_vocab_size, 1, million},
        {"initializer_range", &C::initializer_range, 0, thousand},
        {"layer_norm_eps", &C::layer_norm_eps, 1e-30, 1},
        {"position_embedding_type",
         &C::position_embedding_type,
         0,
         0,
         {"absolute", "relative_key", "relative_key_query"}},
    };
    return table;
}

// Sets the field to a value that it can have; otherwise says what it can be.
std::string set(BertConfig& config, const Field& field, const json& value) {
    auto take = [&](auto BertConfig::*its) -> std::string {
        using T = std::decay_t<decltype(config.*its)>;
        if constexpr (std::is_same_v<T, std::string>) {
            if (value.is_string() && std::ranges::count(field.words, value.get<std::string>()))
                return config.*its = value, "";
            std::string list = field.words[0];
            for (size_t i = 1; i < field.words.size(); ++i) list += " or " + field.words[i];
            return list;
        } else {
            constexpr bool whole = std::is_same_v<T, int>;
            bool good = whole ? value.is_number_integer() : value.is_number();
            if (good && value.get<double>() >= field.least && value.get<double>() <= field.most)
                return config.*its = value.get<T>(), "";
            if (whole) return str("a whole number from ", int(field.least), " to ", int(field.most));
            return str("a number from ", field.least, " to ", field.most);
        }
    };
    return std::visit(take, field.field);
}

json parse_object(std::string_view text, const std::string& file) {
    json values = json::parse(text, nullptr, false);
    if (!values.is_object()) fail(file, " is damaged: it is not a JSON object");
    return values;
}

std::string shown(const json& value) {
    return value.is_structured() && !value.empty() ? str("an ", value.type_name()) : brief(value.dump());
}

// Settings that we have at one value only; another one would change what the model computes.
void require(const json& values, const std::string& file, std::initializer_list<std::pair<const char*, json>> known) {
    for (const auto& [name, value] : known)
        if (values.contains(name) && values[name] != value && !values[name].is_null())
            fail(file, " has ", name, " ", shown(values[name]), ", but here it can only be ", shown(value));
}

std::string find_file(const fs::path& directory, const char* name) {
    std::error_code error;
    if (!fs::exists(directory / name, error) && !error)  // who reads it tells the error
        fail("there is no ", name, " in ", directory.string(),
             "; a model that save_pretrained saved has config.json, vocab.txt and model.safetensors");
    return directory / name;
}

std::vector<std::string> read_lines(const std::string& file) {
    std::string bytes = read_file(file);
    decode_utf8(bytes, file);
    std::string_view rest = bytes;
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);  // a byte order mark
    std::vector<std::string> lines;
    while (!rest.empty()) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.emplace_back(line);
    }
    return lines;
}

// The tokenizer of a run of ours that another program saved anew, with the vocabulary as it was: a space is a token in
// it, which it is in none of pieces of words.
std::unique_ptr<Tokenizer> of_characters(const std::vector<std::string>& vocabulary, const std::string& file) {
    std::u32string characters;
    for (const std::string& token : vocabulary)
        if (std::u32string its = decode_utf8(token, file, true); its.size() == 1) characters += its;
    auto tokenizer = std::make_unique<CharacterTokenizer>(Vocabulary(characters));
    bool is_ours = tokenizer->tokens == vocabulary && characters.find(U' ') != characters.npos;
    return is_ours ? std::move(tokenizer) : nullptr;
}

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& directory) {
    std::string file = find_file(directory, "vocab.txt");
    std::vector<std::string> vocabulary = read_lines(file);
    if (auto ours = of_characters(vocabulary, file)) return ours;

    bool lower_case = true;
    std::error_code error;
    if (std::string settings = directory / "tokenizer_config.json"; fs::exists(settings, error)) {
        json values = parse_object(read_file(settings), settings);
        json given = values.value("do_lower_case", json(true));
        if (!given.is_boolean()) fail(settings, " has do_lower_case ", shown(given), ", not true or false");
        lower_case = given;
        require(values, settings,
                {{"strip_accents", lower_case}, {"tokenize_chinese_chars", true}, {"do_basic_tokenize", true}});
    }
    return std::make_unique<WordPiece>(std::move(vocabulary), lower_case, file);
}

using Shapes = std::map<std::string, Shape>;

// The parameters of BertForPreTraining.
Shapes expected_shapes(const BertConfig& config) {
    const int V = config.vocab_size, C = config.hidden_size, I = config.intermediate_size;
    const int T = config.max_position_embeddings;
    Shapes shapes;
    auto linear = [&](const std::string& name, int in, int out) {
        shapes[name + ".weight"] = {out, in}, shapes[name + ".bias"] = {out};
    };
    auto norm = [&](const std::string& name) {
        shapes[name + ".LayerNorm.weight"] = shapes[name + ".LayerNorm.bias"] = {C};
    };
    shapes["bert.embeddings.word_embeddings.weight"] = {V, C};
    shapes["bert.embeddings.position_embeddings.weight"] = {T, C};
    shapes["bert.embeddings.token_type_embeddings.weight"] = {config.type_vocab_size, C};
    norm("bert.embeddings");
    for (int i = 0; i < config.num_hidden_layers; ++i) {
        const std::string layer = str("bert.encoder.layer.", i), attention = layer + ".attention";
        for (const char* part : {".self.query", ".self.key", ".self.value", ".output.dense"})
            linear(attention + part, C, C);
        norm(attention + ".output");
        if (config.position_embedding_type != "absolute")
            shapes[attention + ".self.distance_embedding.weight"] = {2 * T - 1, C / config.num_attention_heads};
        linear(layer + ".intermediate.dense", C, I);
        linear(layer + ".output.dense", I, C);
        norm(layer + ".output");
    }
    linear("bert.pooler.dense", C, C);
    linear("cls.predictions.transform.dense", C, C);
    norm("cls.predictions.transform");
    shapes["cls.predictions.bias"] = {V};
    linear("cls.seq_relationship", C, 2);
    return shapes;
}

// A BertModel saved alone calls embeddings what is bert.embeddings here; old files say gamma and beta.
std::string todays_name(std::string name) {
    for (const char* part : {"embeddings.", "encoder.", "pooler."})
        if (name.starts_with(part)) name = "bert." + name;
    if (name.ends_with(".LayerNorm.gamma")) name.replace(name.size() - 5, 5, "weight");
    if (name.ends_with(".LayerNorm.beta")) name.replace(name.size() - 4, 4, "bias");
    return name;
}

using Tensors = std::map<std::string, Tensor>;

// Some files have a tensor a second time, under the name of the place where it is used again.
void drop_tied(Tensors& tensors, const std::string& file) {
    for (const auto& [copy, original] : std::initializer_list<std::pair<const char*, const char*>>{
             {"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"},
             {"cls.predictions.decoder.bias", "cls.predictions.bias"}}) {
        auto found = tensors.extract(copy);
        if (found.empty()) continue;
        auto [place, missing] = tensors.try_emplace(original, found.mapped());
        if (!missing && (place->second.shape() != found.mapped().shape() ||
                         !std::ranges::equal(place->second.values(), found.mapped().values())))
            fail(file, ": ", copy, " differs from ", original, "; a BERT has one tensor for both");
    }
}

Tensors load_tensors(const std::string& file) {
    const Checkpoint checkpoint = load_safetensors(file, Types::any);
    Tensors tensors;
    for (const auto& [name, tensor] : checkpoint.tensors)
        if (!tensors.try_emplace(todays_name(name), tensor).second)
            fail(file, " has ", brief(todays_name(name)), " twice, under an old and a new name");
    drop_tied(tensors, file);
    return tensors;
}

}  // namespace

BertConfig parse_config(std::string_view text, const std::string& file) {
    json values = parse_object(text, file);
    BertConfig config;
    require(values, file,
            {{"model_type", "bert"},
             {"is_decoder", false},
             {"add_cross_attention", false},
             {"tie_word_embeddings", true},
             {"pad_token_id", 0},
             {"pruned_heads", json::object()}});
    for (const Field& field : fields()) {
        if (!values.contains(field.name)) continue;
        if (std::string wanted = set(config, field, values[field.name]); !wanted.empty())
            fail(file, " has ", field.name, " ", shown(values[field.name]), ", not ", wanted);
    }
    if (config.hidden_size % config.num_attention_heads)
        fail(file, ": The hidden size (", config.hidden_size, ") is not a multiple of the number of attention heads (",
             config.num_attention_heads, ")");
    return config;
}

std::string save_config(const BertConfig& config) {
    ordered_json values = {{"architectures", {"BertForPreTraining"}}, {"model_type", "bert"}};
    for (const Field& field : fields()) std::visit([&](auto its) { values[field.name] = config.*its; }, field.field);
    for (const auto& [layer, heads] : config.pruned_heads) values["pruned_heads"][std::to_string(layer)] = heads;
    return values.dump(2) + "\n";
}

Pretrained load_pretrained(const std::string& directory) {
    const std::string config_file = find_file(directory, "config.json"),
                      file = find_file(directory, "model.safetensors");
    const BertConfig config = parse_config(read_file(config_file), config_file);
    std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(directory);
    if (tokenizer->size() != config.vocab_size)
        fail(directory, ": config.json has vocab_size ", config.vocab_size, ", but vocab.txt has ", tokenizer->size(),
             " lines");
    Tensors tensors = load_tensors(file);
    Shapes shapes = expected_shapes(config);
    auto has = [&](const std::string& part) {  // BertModel has no heads, BertForMaskedLM no pooler
        bool found = std::ranges::any_of(tensors, [&](const auto& tensor) { return tensor.first.starts_with(part); });
        if (!found) std::erase_if(shapes, [&](const auto& shape) { return shape.first.starts_with(part); });
        return found;
    };
    Pretrained model{
        config, std::move(tokenizer), {}, has("bert.pooler."), has("cls.predictions."), has("cls.seq_relationship.")};
    for (const auto& [name, shape] : shapes) {
        auto found = tensors.find(name);
        if (found == tensors.end()) fail(file, " has no tensor ", name, ": it is not the model of its config.json");
        if (found->second.shape() != shape)
            fail(file, ": ", name, " is ", to_string(found->second.shape()), ", with its config.json it would be ",
                 to_string(shape));
        model.checkpoint.tensors.push_back({name, found->second});
        tensors.erase(found);
    }
    if (!tensors.empty())
        fail(file, " has a tensor ", brief(tensors.begin()->first), " that BertForPreTraining has no place for");
    return model;
}

}  // namespace babygpt
