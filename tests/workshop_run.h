// Runs of the workshop's tests: small ones, of models that know nothing.
#pragma once
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "tests/temporary.h"
#include "tests/workshop_model.h"

namespace babygpt::workshop {

// A model as training saves it; what it says of itself may be another.
inline std::string saved_bytes(const Options& options, int step, uint64_t seed = 0, uint64_t hash = 1,
                               const std::map<std::string, std::string>& about = {}) {
    Opened opened = open_tiny(options, seed);
    Corpus corpus{options.data, opened.vocabulary(), {}, {}, {}, nullptr, hash};
    Checkpoint checkpoint = describe_model(options, corpus, opened.module(), step, 2.5, 2.25);
    for (const auto& [key, value] : about) checkpoint.metadata[key] = value;
    return to_safetensors(checkpoint);
}

// A run as training leaves it.
inline void write_run(const std::filesystem::path& at, const Options& options, uint64_t seed = 0,
                      const std::string& data = "letters", uint64_t hash = 1) {
    std::filesystem::create_directories(at / "snapshots");
    Options saved = options;
    saved.steps = 20, saved.data = data;
    for (int step : {0, 20})
        write_whole((at / "snapshots" / (std::to_string(step) + ".safetensors")).string(),
                    saved_bytes(saved, step, seed, hash));
    std::filesystem::copy(at / "snapshots/20.safetensors", at / "model.safetensors",
                          std::filesystem::copy_options::overwrite_existing);
    write_whole((at / "metrics.csv").string(),
                "step,train_loss,val_loss,tokens_per_second,seconds\n0,3.0,3.1,0.0,0.1\n20,2.5,2.25,1000.0,1.5\n");
    nlohmann::json run = {{"stage", options.stage},
                          {"options", nlohmann::json::parse(options_to_json(saved))},
                          {"steps", 20},
                          {"tokens", 2000},
                          {"best", {{"step", 20}, {"val_loss", 2.25}}},
                          {"sample", "bad <!-- <script>"}};
    write_whole((at / "run.json").string(), run.dump());
}

}  // namespace babygpt::workshop
