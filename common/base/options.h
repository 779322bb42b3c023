// Everything a user can choose. Options holds the values and their defaults; a stage gives the ones that suit it. The
// table in options.cpp has a row for each, with its range and its reason, and makes of it the command line, --help, the
// options in a run's files and the checks of both. A new option is a field here and a row there.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace babygpt {

enum class Task { write, fill, translate, measure };  // what a stage's model is for

struct Options {
    std::string stage = {};    // the program's name: where its runs go
    std::string program = {};  // the name of another one that trains: this stage with a change
    Task task = Task::write;

    // the text
    std::string data = "tales";
    int batch_size = 32;
    int block_size = 32;

    // the model; 0: this stage has no such thing
    int n_embd = 0;
    int n_head = 0;
    int n_layer = 0;
    std::string positions = {};
    double dropout = 0;
    std::string pruned_heads = {};  // by layer: 0:1;1:0,2

    // training
    int steps = 3000;
    double learning_rate = 3e-3;
    int warmup = 0;
    bool decay = false;
    double weight_decay = 0.01;
    double beta1 = 0.9;
    double beta2 = 0.99;  // batches are small, runs short: sizes seen a hundred steps ago are old
    double clip = 0;
    int eval_interval = 250;
    int eval_batches = 50;
    int threads = 0;  // 0: one per core, see thread_count
    uint64_t seed = 1;
    std::string out = {};  // empty: runs/STAGE
    int save_interval = 1000;
    int snapshots = 20;   // MB in all
    int checkpoint = -1;  // -1: this stage has no such thing
    int chunk = -1;
    bool resume = false;

    // sampling
    std::string model = {};  // empty: runs/STAGE
    std::string prompt = {};
    int tokens = 500;
    double temperature = 0.8;
    int top_k = 40;
    std::string stop = {};
    int count = 1;
    std::string show = {};
    bool interactive = false;
    double top_p = 0.95;

    // pruning; 0: this stage prunes nothing
    double tolerance = 0;

    // asking a BERT
    std::vector<std::string> texts = {};  // what the command is about
    std::string hidden = {};
    std::string svg = {};
};

int thread_count(const Options& options);  // one per core where options.threads is 0

// What an option is about: its heading in --help. A command has the options of some groups.
enum class Group { none, text, model, training, trained_model, pruning, writing, showing, chance };

// Whether a run's files have it: always if it determines the result; to_resume if it does not, but --resume keeps it.
enum class Saved { never, to_resume, always };

// A row of the table.
struct Option {
    std::string name;  // in files; on the command line n_embd is --n-embd
    std::variant<std::string Options::*, int Options::*, double Options::*, bool Options::*, uint64_t Options::*> field;
    Group group;
    bool (*has)(const Options& stage);  // whether a stage with these defaults has the option
    Saved saved;
    double least, most;  // of a number; a text of at least 1 is a name
    std::string help;
    std::vector<std::string> words = {};  // where it is a word of these

    std::string flag() const;                  // --n-embd
    bool fits(const Options& options) const;   // the value is in its range
    bool empty(const Options& options) const;  // the value is 0, or no text
    std::string wanted() const;                // "a whole number from 1 to 1000"
};
const std::vector<Option>& option_table();

// The saved options for a run's files, and back: what a file lacks is as the stage has it. Fails on what no run wrote.
std::string options_to_json(const Options& options);
Options options_from_json(const std::string& json, const std::string& file, const Options& stage);

// The first saved option that differs: "--seed is 2, it was 1"; empty if none does.
std::string difference(const Options& now, const Options& before);

bool heads_fit(const Options& options);  // each takes an equal share of n_embd

}  // namespace babygpt
