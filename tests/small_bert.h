// A directory as Hugging Face saves a model, in the forms that such files have had. The model is the one of
// tests/fixtures/pretraining_relative_key.safetensors: names, shapes and config.json are Hugging Face's own.
#pragma once
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/train/checkpoint.h"
#include "tests/check.h"
#include "tests/shell.h"

namespace babygpt {

// A tensor on its way into a file; its numbers are ones that every type holds.
struct StoredTensor {
    std::string dtype;
    Shape shape;
    std::vector<double> numbers;
};

inline std::string to_bytes(const StoredTensor& tensor) {
    std::string bytes;
    auto add = [&](auto number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); };
    for (double number : tensor.numbers) {
        if (tensor.dtype == "F64") add(number);
        if (tensor.dtype == "F32") add(float(number));
        if (tensor.dtype == "BF16") add(uint16_t(std::bit_cast<uint32_t>(float(number)) >> 16));
        if (tensor.dtype == "I64") add(int64_t(number));
        if (tensor.dtype != "F16") continue;
        int exponent = -14;
        double fraction = number == 0 ? 0.5 : std::frexp(std::abs(number), &exponent);  // from 0.5 to 1
        add(uint16_t((number < 0) << 15 | (exponent + 14) << 10 | int(fraction * 2048 - 1024)));
    }
    return bytes;
}

struct SmallBert {
    nlohmann::json config;
    std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "a",   "red",
                                    "blue",  "kite",  "##s",   "lamp",  "won",    ".",   "in",  "box",
                                    "was",   "rosa",  "at",    "gate",  "made",   "her", "##er"};
    std::map<std::string, StoredTensor> tensors;
    nlohmann::json tokenizer_config;  // nothing: there is no such file

    // BertForPreTraining, with absolute positions if it is not told otherwise.
    explicit SmallBert(const std::string& dtype = "F32", const std::string& positions = "absolute") {
        Checkpoint fixture = load_safetensors("tests/fixtures/pretraining_relative_key.safetensors", Types::any);
        config = nlohmann::json::parse(fixture.about("config", "the fixture"));
        config["position_embedding_type"] = positions;
        for (const auto& [name, tensor] : fixture.tensors) {
            if (!name.starts_with("model.")) continue;
            StoredTensor& stored = tensors[name.substr(6)] = {dtype, tensor.shape(), {}};
            for (real number : tensor.values())  // to eighths of a power of two: 8 bits are what BF16 has
                stored.numbers.push_back(std::round(std::clamp(double(number), -1.9, 1.9) * 64) / 64);
        }
        if (positions == "absolute") drop("distance_embedding");
    }

    void drop(const std::string& part) {
        std::erase_if(tensors, [&](const auto& tensor) { return tensor.first.find(part) != std::string::npos; });
    }
    void rename(const std::string& part, const std::string& instead) {  // in every name that has it
        std::map<std::string, StoredTensor> renamed;
        for (auto& [name, tensor] : tensors) {
            std::string other = name;
            if (size_t at = name.find(part); at != name.npos) other.replace(at, part.size(), instead);
            renamed[other] = std::move(tensor);
        }
        tensors = std::move(renamed);
    }
    void use_old_names() {
        rename("LayerNorm.weight", "LayerNorm.gamma");
        rename("LayerNorm.bias", "LayerNorm.beta");
    }
    void keep_model_only() {  // as a BertModel is saved: neither heads nor a prefix
        drop("cls.");
        rename("bert.", "");
    }
    void add_tied_copies() {
        tensors["cls.predictions.decoder.weight"] = tensors.at("bert.embeddings.word_embeddings.weight");
        tensors["cls.predictions.decoder.bias"] = tensors.at("cls.predictions.bias");
    }
    void add_buffers() {
        tensors["bert.embeddings.position_ids"] = {"I64", {1, 12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
    }

    std::string safetensors() const {
        nlohmann::json header = {{"__metadata__", {{"format", "pt"}}}};
        std::string data;
        for (const auto& [name, tensor] : tensors) {
            size_t begin = data.size();
            data += to_bytes(tensor);
            header[name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
        }
        std::string text = header.dump();
        uint64_t length = text.size();
        return std::string(reinterpret_cast<const char*>(&length), 8) + text + data;
    }

    // The directory's name, for what reads it.
    std::string write(const Shell& shell, const std::string& directory) const {
        std::filesystem::create_directories(shell.path(directory));
        shell.write(directory + "/config.json", config.dump(2));
        shell.write(directory + "/model.safetensors", safetensors());
        if (!tokenizer_config.is_null()) shell.write(directory + "/tokenizer_config.json", tokenizer_config.dump());
        std::string lines;
        for (const std::string& token : tokens) lines += token + "\n";
        shell.write(directory + "/vocab.txt", lines);
        return shell.path(directory);
    }
};

}  // namespace babygpt
