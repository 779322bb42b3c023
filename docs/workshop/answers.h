// What the page can ask, and the answers. A question and its answer are JSON.
#pragma once
#include "docs/workshop/look.h"
#include "docs/workshop/runs.h"

namespace babygpt::workshop {

Question question_of(const nlohmann::json& question);  // text, second, padding

class Answers {
  public:
    explicit Answers(const std::string& directory)
        : runs(directory) {}

    nlohmann::json list() { return {{"runs", runs.list()}}; }
    nlohmann::json texts(const std::string& run) { return {{"texts", runs.texts(run)}}; }
    // These take {run, step, ...}; without a step it is the best model that is asked.
    nlohmann::json sample(const nlohmann::json& question);  // what the model could do then
    nlohmann::json look(const nlohmann::json& question);    // text, second, padding
    nlohmann::json row(const nlohmann::json& question);     // and part, layer, head, row
    nlohmann::json parts(const nlohmann::json& question);   // text, second, padding; for a run that is kept
    nlohmann::json write(const nlohmann::json& question);   // text, count, temperature, top_k, top_p, seed or random
    nlohmann::json fill(const nlohmann::json& question);    // text, second

    Runs runs;

  private:
    std::shared_ptr<const Opened> open(const nlohmann::json& question);

    Models models;
    std::mutex computing;  // one model at a time, so that a run that trains keeps its cores
    struct Sample {
        std::string of, text;  // of: the model's version, and the text that it was given
    };
    std::map<std::string, Sample> samples;  // by the model's file
};

}  // namespace babygpt::workshop
