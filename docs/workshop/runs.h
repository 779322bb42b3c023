// What is in runs/, as the page shows it. Nothing in it is changed.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "common/text/baselines.h"

namespace babygpt::workshop {

class Runs {
  public:
    explicit Runs(std::string directory);

    // All runs, each with its curve and what it found; a damaged one with what is wrong with it.
    nlohmann::json list();
    nlohmann::json describe(const std::string& name);

    // The directory of a run. Fails on a name that is none, or leads elsewhere.
    std::string path(const std::string& name) const;
    // The file with the weights of a step; of the best if it is -1.
    std::string file(const std::string& name, int step) const;
    // Texts to begin with, of those that the run did not learn from.
    std::vector<std::string> texts(const std::string& name);

  private:
    nlohmann::json baselines(const std::string& data, const std::string& hash);
    // What f makes of a file, made again when the file is another; once for all who ask at the same time.
    nlohmann::json once(const std::string& what, const std::string& file,
                        const std::function<nlohmann::json(const std::string&)>& f);

    struct Made {
        std::mutex making;
        std::string version;
        nlohmann::json result;
    };
    std::string directory;
    std::mutex mutex;
    std::map<std::pair<std::string, std::string>, std::shared_ptr<Made>> made;  // by the file, and what is made of it
};

}  // namespace babygpt::workshop
