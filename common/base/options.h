// Everything a user can choose, as one flat list: each with its default and its reason. A stage gives the defaults that
// suit it.
#pragma once
#include <cstdint>
#include <string>

namespace babygpt {

struct Options {
    std::string stage = {};  // the program's name: where its runs go

    // the text
    std::string data = "tales";  // built-in: tales or verses; or any UTF-8 file
    int batch_size = 32;         // blocks a step: more is steadier and slower
    int block_size = 32;         // characters the model sees at once

    // the model; 0: this stage has no such thing
    int n_embd = 0;      // numbers that stand for a character
    int n_head = 0;      // attention heads side by side
    int n_layer = 0;     // blocks on top of each other
    double dropout = 0;  // share of activations zeroed while training, against learning by heart

    // training
    int steps = 3000;             // updates of the parameters
    double learning_rate = 3e-3;  // how far an update goes
    int warmup = 0;               // steps until the learning rate is reached: large models start badly at full speed
    bool decay = false;           // let the learning rate fall towards the end: the last steps settle
    double weight_decay = 0.01;   // how strongly parameters shrink
    double clip = 0;              // the longest gradient allowed; 0: any
    int eval_interval = 250;      // steps between two evaluations
    int eval_batches = 50;        // batches an evaluation averages over
    int threads = 0;              // 0: one per core
    uint64_t seed = 1;            // of every random stream
    std::string out = {};         // the run's directory; empty: runs/STAGE
    int save_interval = 1000;     // steps between two savings of all that --resume needs
    bool resume = false;          // go on with the run in `out`

    // sampling
    std::string model = {};    // the run directory to sample from; empty: runs/STAGE
    std::string prompt = {};   // what the sample continues; empty: a new paragraph
    int tokens = 500;          // characters to write
    double temperature = 0.8;  // below 1 prefers the likely, above 1 evens out; 0 always takes the likeliest
    int top_k = 40;            // choose among the k likeliest; 0: all
    std::string stop = {};     // end a text after this
    int count = 1;             // texts to write
    std::string show = {};     // surprise: colour each character by it; choices: the five likeliest beside each
    bool interactive = false;  // ask for prompts again and again
    double top_p = 0.95;       // choose among the likeliest that together have this probability; 1: all
};

enum class Command { train, compare, sample };

// Reads the command line over the stage's defaults. A stage that names a model to begin with trains none, but compares.
// Fails with one line on anything it cannot use; exits after --help.
Command parse_options(int argc, char** argv, Options& options);
// The same over other values than the stage's defaults, which decide only what options there are.
Command parse_options(int argc, char** argv, Options& options, const Options& stage);

// What determines a run's result, for its files, and back; fails on what no run wrote.
std::string options_to_json(const Options& options);
Options options_from_json(const std::string& json, const std::string& file);

// The first of these that differs: "--seed is 2, it was 1"; empty if none does.
std::string difference(const Options& now, const Options& before);

}  // namespace babygpt
