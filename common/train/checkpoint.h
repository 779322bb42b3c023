// Tensors on disk, in the safetensors format: a header in JSON, then the numbers. docs/checkpoint.md describes it.
#pragma once
#include <map>

#include "common/nn/nn.h"

namespace babygpt {

struct Checkpoint {
    std::map<std::string, std::string> metadata;
    std::vector<Module::Parameter> tensors;

    // Fails if the metadata has no such key.
    const std::string& about(const std::string& key, const std::string& file) const;
};

std::string to_safetensors(const Checkpoint& checkpoint);

// Our own runs hold tensors of the type we compute in. Those of other programs may be F32, F64, F16 or BF16, and are
// converted; integers among them, which are no parameters, are left out.
enum class Types { ours, any };
// Both fail with one clear line on a damaged file.
Checkpoint from_safetensors(std::string_view bytes, const std::string& name, Types types = Types::ours);
Checkpoint load_safetensors(const std::string& file, Types types = Types::ours);
// Without reading the tensors.
std::map<std::string, std::string> metadata_of(std::string_view bytes, const std::string& name);
std::map<std::string, std::string> load_metadata(const std::string& file);

// Copies the checkpoint's tensors whose names begin with `prefix` into the parameters; fails if one is missing, of
// another shape, or left over.
void restore(std::vector<Module::Parameter>& parameters, const Checkpoint& checkpoint, const std::string& prefix,
             const std::string& name);

// A model of which all weights come from a file: made without a start of its own, and filled.
template <class Make, class... Config>
auto make_from(const Checkpoint& checkpoint, const std::string& file, const Make& make, const Config&... config) {
    NoInitWeights from_file;
    Rng unused(0);
    auto model = make(config..., unused);
    restore(model->parameters, checkpoint, "", file);
    return model;
}

}  // namespace babygpt
