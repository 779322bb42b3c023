// What is trained: how a batch is drawn, what its loss is, what to show at the end. Training knows no more of a model.
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "common/train/saved_model.h"

namespace babygpt {

struct Losses {
    double train, val;
};

enum class Part { train, val };  // of the text: to learn from, and to see what was learnt

class DrawnBatch {
  public:
    virtual ~DrawnBatch() = default;
    virtual int rows() const = 0;
    virtual size_t tokens() const = 0;  // by which speed is counted
    // What the rows from first to last - 1 add to the mean loss of the whole batch, for a model that the objective
    // made. Whatever is divided by is counted over all rows, so that the parts add up however the batch is cut.
    virtual Tensor loss(const Module& model, int first, int last) const = 0;
};

// Cuts the rows from first to last - 1 into chunks of about a thousand tokens and calls f(first, last) for each: what a
// layer writes is then still in cache when the next one reads it.
void for_chunks(const DrawnBatch& batch, int first, int last, const std::function<void(int first, int last)>& f);

// What makes models of a kind: from options and the size of a vocabulary, or from a BERT's configuration, and from a
// stream for their start.
template <class Model>
constexpr auto maker() {
    return [](auto&&... from) { return std::make_unique<Model>(from...); };
}

class Objective {
  public:
    virtual ~Objective() = default;

    virtual std::shared_ptr<Module> make_model(Rng& initialisation) const = 0;
    virtual std::unique_ptr<DrawnBatch> draw(Part part, Rng& rng) const = 0;
    // The model for its file: with all that is needed to use it again, and the text's corpus_hash.
    virtual Checkpoint describe(const Module& model, int step, Losses losses) const = 0;
    // What else belongs beside the model's file, for other programs; default: nothing.
    struct File {
        std::string name, text;
    };
    virtual std::vector<File> files() const;

    // The first lines of a run: the text, and what a loss means. Fails on what show() would be refused for.
    virtual std::string introduce() const = 0;
    // Beside every evaluation, of a model with parameters; default: nothing.
    virtual std::string remark(double loss, const Module* model) const;
    virtual std::string in_words(double loss) const;  // of the best; default: the number

    // Lets the best model show what it can do. Each finding is merged into run.json, whose final losses are those of
    // the last step, and each text replaces samples.txt before what is said of it is printed.
    using Tell = std::function<void(const nlohmann::json& found, const std::string& text, const std::string& said)>;
    virtual void show(const Module& model, const Tell& tell) const = 0;
};

}  // namespace babygpt
