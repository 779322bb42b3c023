#include "docs/workshop/runs.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/files.h"
#include "common/base/format.h"
#include "common/nn/schedule.h"
#include "common/text/pairs.h"
#include "common/text/sentences.h"
#include "common/text/utf8.h"
#include "docs/workshop/models.h"

namespace babygpt::workshop {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t largest_file = 10'000'000;  // of what is no checkpoint

// Whether a process has this file open, or may have.
bool has_open(const std::string& process, const struct stat& file) {
    std::error_code error;
    for (fs::directory_iterator one("/proc/" + process + "/fd", error), end; !error && one != end;
         one.increment(error)) {
        struct stat about;
        if (stat(one->path().c_str(), &about) == 0 && about.st_dev == file.st_dev && about.st_ino == file.st_ino)
            return true;
    }
    return error == std::errc::permission_denied;  // another user's process does not tell
}

// Whether the system's own list has a lock of a directory. It names a file by its number, which one of another disk may
// have too; and the disk by a number that need not be the one that stat gives. So the process is asked.
bool is_listed(const struct stat& about) {
    std::ifstream list("/proc/locks");
    std::stringstream locks;
    locks << list.rdbuf();  // all of it before anything is looked up, as it changes meanwhile
    for (std::string line; std::getline(locks, line);) {  // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
        std::istringstream words(line);
        std::string number, kind, advisory, mode, process, file;
        words >> number >> kind >> advisory >> mode >> process >> file;
        if (kind == "FLOCK" && mode == "WRITE" && file.ends_with(str(':', about.st_ino)) && has_open(process, about))
            return true;
    }
    return false;
}

// Whether a run has locked a directory. Trying the lock would keep a run out that begins at this moment, so the list is
// read: more than once, as it comes in pieces, and a lock that goes away between two of them hides another one.
bool is_locked(const std::string& path) {
    struct stat about;
    if (stat(path.c_str(), &about) != 0) return false;
    return is_listed(about) || is_listed(about) || is_listed(about);
}

// Rows of metrics.csv: step, losses, tokens per second, seconds.
Json read_metrics(const std::string& file) {
    std::istringstream lines(read_at_most(file, largest_file));
    std::string line;
    std::getline(lines, line);
    if (line != "step,train_loss,val_loss,tokens_per_second,seconds") fail(file, " is not one a run wrote");
    Json rows = Json::array();
    while (std::getline(lines, line)) {
        std::ranges::replace(line, ',', ' ');
        std::istringstream numbers(line);
        double row[5];
        for (double& number : row)
            if (!(numbers >> number)) fail(file, " is damaged at line ", rows.size() + 2);
        rows.push_back(row);
    }
    return rows;
}

std::vector<int> snapshot_steps(const std::string& path) {
    std::vector<int> steps;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(path + "/snapshots", none)) {
        std::string name = entry.path().filename();
        size_t digits = name.find_first_not_of("0123456789");
        if (digits != 0 && digits < 10 && name.substr(digits) == ".safetensors") steps.push_back(std::stoi(name));
    }
    std::ranges::sort(steps);
    return steps;
}

// Fails on what is nested without end: a copy of it would overflow the stack.
Json parse(const std::string& text, const std::string& file) {
    constexpr int deepest = 8;
    return Json::parse(text, [&](int depth, Json::parse_event_t, const Json&) {
        if (depth > deepest) fail(file, " is damaged: it is nested too deeply");
        return true;
    });
}

// Of the files that have a run's options, the one that was written last: a run that goes on may have been made longer.
std::string newest_options(const std::string& at, const std::vector<int>& snapshots) {
    std::error_code error;
    std::string newest = at + "/model.safetensors";
    std::vector<std::string> others{at + "/resume.safetensors"};
    if (!snapshots.empty()) others.insert(others.begin(), str(at, "/snapshots/", snapshots.back(), ".safetensors"));
    for (const std::string& file : others)
        if (fs::is_regular_file(file, error) && fs::last_write_time(file, error) >= fs::last_write_time(newest, error))
            newest = file;
    return newest;
}

// What a run says of itself. The page counts on the types of all this; a file in which they are others is damaged.
Json read_summary(const std::string& file) {
    Json saved = parse(read_at_most(file, largest_file), file), summary = Json::object();
    auto take = [&](std::initializer_list<const char*> keys, auto is_good) {
        for (const char* key : keys) {
            if (!saved.contains(key)) continue;
            if (!is_good(saved[key])) fail(file, " is damaged: its ", key, " is not what a run writes");
            summary[key] = saved[key];
        }
    };
    auto with = [](std::initializer_list<const char*> numbers) {
        return [=](const Json& table) {
            auto is_there = [&](const char* name) { return table.contains(name) && table[name].is_number(); };
            return table.is_object() && std::ranges::all_of(numbers, is_there);
        };
    };
    take({"stage", "program", "sample"}, [](const Json& value) { return value.is_string(); });
    take({"parameters", "steps", "tokens", "tokens_per_second"}, [](const Json& value) { return value.is_number(); });
    take({"options", "final", "judged"}, with({}));
    take({"best"}, with({"step", "val_loss"}));
    take({"baselines"}, with({"uniform", "unigram"}));
    if (summary.contains("baselines")) {  // the page draws a line for each
        Json lines = Json::object();
        for (const char* line : {"uniform", "unigram", "bigram", "floor"})
            if (const Json& height = saved["baselines"][line]; height.is_number()) lines[line] = height;
        summary["baselines"] = lines;
    }
    return summary;
}

// A number that the file of a model says of it.
template <class Number>
Number number_in(std::map<std::string, std::string>& about, const std::string& key, const std::string& file) {
    const std::string& digits = about[key];
    Number number{};
    auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || rest != digits.data() + digits.size() || !std::isfinite(double(number)))
        fail(file, " is damaged: its ", key, " is no number");
    return number;
}

double age(const std::string& file) {
    std::error_code error;
    auto written = fs::last_write_time(file, error);
    return error ? 0 : std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count();
}

// How long the steps that are left take, by those of the last evaluations.
double seconds_left(const Json& rows, double steps, double waited) {
    const Json &last = rows.back(), &first = rows[rows.size() > 3 ? rows.size() - 4 : 0];
    double done = double(last[0]) - double(first[0]);
    if (done <= 0) return NAN;
    double each = (double(last[4]) - double(first[4])) / done;
    return std::max(0.0, (steps - double(last[0])) * each - waited);
}

// Whether a stage's models go on with a text. Of those without attention, 01 and 02 do.
bool goes_on(const std::string& stage) { return has_attention(stage) ? task_of(stage) == Task::write : stage < "03"; }

// Fails if the text is not the one with this hash.
std::vector<std::string> unseen_texts(const Options& options, Task task, const std::string& hash) {
    constexpr size_t wanted = 4, longest = 96;
    std::vector<std::string> all;
    auto check = [&](uint64_t its) {
        if (std::to_string(its) != hash) fail(options.data, " is no longer what the run learned from");
    };
    if (task == Task::translate) {
        ParallelCorpus pairs = load_pairs(options.data);
        check(pairs.hash);
        for (size_t i = 0; i < std::min(wanted, pairs.val.size()); ++i) all.push_back(encode_utf8(pairs.val[i].source));
    } else if (task == Task::fill) {
        Sentences text = load_sentences(options.data);
        check(text.hash);
        size_t apart = text.val.size() / wanted + 1;
        for (size_t i = 0; i < text.val.size(); i += apart)
            all.push_back(text.tokenizer.decode(text.tokens[size_t(text.val[i].first)]));
    } else {
        Corpus corpus = load_corpus(options.data);
        check(corpus.hash);
        std::u32string val = decode_utf8(corpus.vocabulary.decode(corpus.val), "the text");
        size_t most = std::min(size_t(options.block_size), longest);
        const std::u32string gap = U"\n\n";
        for (size_t at = val.find(gap); at != val.npos && all.size() < wanted; at = val.find(gap, at + 1))
            all.push_back(encode_utf8(val.substr(at + gap.size(), most)));
        if (all.empty()) all.push_back(encode_utf8(val.substr(0, most)));
    }
    return all;
}

}  // namespace

Runs::Runs(std::string d)
    : directory(std::move(d)) {}

std::string Runs::path(const std::string& name) const {
    std::string whole = directory + "/" + name;
    std::error_code error;
    bool plain = !name.empty() && name[0] != '.' && name.find('/') == name.npos && name.find('\0') == name.npos;
    if (!plain || !fs::is_directory(whole, error) ||
        fs::canonical(whole, error).parent_path() != fs::canonical(directory, error))
        fail("there is no run ", brief(name), " in ", directory, "; it may have been removed or renamed");
    return whole;
}

std::string Runs::file(const std::string& name, int step) const {
    std::string whole = path(name);
    return step < 0 ? whole + "/model.safetensors" : str(whole, "/snapshots/", step, ".safetensors");
}

Json Runs::once(const std::string& what, const std::string& file, const std::function<Json(const std::string&)>& f) {
    std::shared_ptr<Made> its;
    {
        std::lock_guard alone(mutex);
        std::shared_ptr<Made>& there = made[{file, what}];
        if (!there) there = std::make_shared<Made>();
        its = there;
    }
    std::lock_guard others_wait(its->making);  // it may take long: who asks for something else does not wait
    if (std::string version = version_of(file); its->version != version) {
        its->result = f(file);
        its->version = version;
    }
    return its->result;
}

Json Runs::baselines(const std::string& data, const std::string& hash) {
    return once("baselines " + hash, data, [&](const std::string&) -> Json {
        try {
            refuse_pipe(data);
            Corpus corpus = load_corpus(data);
            if (std::to_string(corpus.hash) != hash) return {};
            Baselines b = measure_baselines(corpus);
            Json found = {{"uniform", b.uniform}, {"unigram", b.unigram}, {"bigram", b.bigram}};
            if (b.floor) found["floor"] = *b.floor;
            return found;
        } catch (const Error&) {  // the text is not at hand
            return {};
        }
    });
}

Json Runs::describe(const std::string& name) {
    std::string at = path(name);
    Json run = {{"name", name}};
    try {
        std::error_code error;
        auto has = [&](const char* file) { return fs::is_regular_file(at + "/" + file, error); };  // a pipe would wait
        Json rows = has("metrics.csv") ? once("rows", at + "/metrics.csv", read_metrics) : Json::array();
        std::vector<int> snapshots = snapshot_steps(at);
        bool training = is_locked(at), finished = false;
        double step = rows.empty() ? 0.0 : double(rows.back()[0]);
        double summed_up = 0;  // the step at which run.json was written: a run that is resumed is further
        if (has("run.json")) {
            run.update(once("summary", at + "/run.json", read_summary));
            summed_up = run.value("steps", step);
            finished = !training && step <= summed_up;
            if (!finished)  // these are of its earlier end
                for (const char* key : {"final", "judged", "sample"}) run.erase(key);
        }
        if (has("model.safetensors") && !finished) {
            std::string model = file(name, -1), newest = newest_options(at, snapshots);
            std::map<std::string, std::string> about = once("metadata", model, read_metadata),
                                               now = once("metadata", newest, read_metadata);
            run["stage"] = about["stage"], run["options"] = parse(now["options"], newest);
            if (now.contains("program")) run["program"] = now["program"];
            run["best"] = {{"step", number_in<int>(about, "step", model)},
                           {"val_loss", number_in<double>(about, "val_loss", model)}};
            if (!run.contains("baselines") && goes_on(about["stage"]))
                run["baselines"] = baselines(run["options"].at("data"), about["corpus_hash"]);
        }
        Json options = run.at("options");
        std::string stage = run.at("stage");
        double steps = std::max(options.value("steps", 0.0), step);  // how much longer it was made may not be saved yet
        run["state"] = training ? "training" : finished && step >= steps ? "finished" : "stopped";
        run["rows"] = rows, run["step"] = step, run["steps"] = steps;
        run["snapshots"] = snapshots;
        run["version"] = version_of(file(name, snapshots.empty() ? -1 : snapshots[0]));  // another if trained anew
        bool opens = has("model.safetensors") && !run.contains("program");
        run["looks"] = opens && has_attention(stage);
        if (run["looks"] && !run.contains("best")) fail(at, "/run.json is damaged: it has no best");
        run["writes"] = opens && (has_attention(stage) || goes_on(stage));
        if (run.contains("program")) {
            run["remark"] = changed(run["program"], stage);
            run["snapshots"] = Json::array();  // what it wrote at them is not known
        }
        run["task"] = has_attention(stage) ? int(task_of(stage)) : int(Task::write);
        if (run.contains("tokens") && summed_up > 0)
            run["per_step"] = double(run["tokens"]) / summed_up;
        else if (goes_on(stage))
            run["per_step"] = options.value("batch_size", 0.0) * options.value("block_size", 0.0);
        if (options.value("warmup", 0) || options.value("decay", false) || options.value("n_embd", 0))
            run["learning_rate"] =
                Schedule{options.at("learning_rate"), options.at("warmup"), options.at("steps"), options.at("decay")}
                    .at(int(step));
        else
            run["learning_rate"] = options.value("learning_rate", 0.0);
        if (training && rows.size() > 1 && step < steps)
            if (double left = seconds_left(rows, steps, age(at + "/metrics.csv")); !std::isnan(left))
                run["left"] = left;
    } catch (const Json::exception&) {
        run = {{"name", name}, {"state", "damaged"}, {"problem", "its files are not those that a run writes"}};
    } catch (const Error& problem) {
        run = {{"name", name}, {"state", "damaged"}, {"problem", problem.what()}};
    } catch (const std::exception& problem) {
        run = {{"name", name}, {"state", "damaged"}, {"problem", brief(problem.what())}};
    }
    return run;
}

Json Runs::list() {
    std::vector<std::string> names;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
        std::string at = entry.path();
        auto has = [&](const char* file) { return fs::is_regular_file(at + "/" + file, error); };
        if (!has("metrics.csv") && !has("run.json")) continue;
        bool begins = !has("run.json") && !has("model.safetensors") && is_locked(at);
        if (!begins) names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    Json all = Json::array();
    for (const std::string& name : names) try {
            all.push_back(describe(name));
        } catch (const Error&) {  // it was removed a moment ago, or leads elsewhere
        }
    std::lock_guard alone(mutex);
    std::erase_if(made, [&](const auto& each) {
        const std::string& file = each.first.first;
        return file.starts_with(directory + "/") && !fs::exists(file, error);
    });
    return all;
}

std::vector<std::string> Runs::texts(const std::string& name) {
    std::string file = path(name) + "/model.safetensors";
    auto about = read_metadata(file);
    Options options = options_from_json(about["options"], file, {.stage = about["stage"]});
    std::string hash = about["corpus_hash"];
    return once(str("texts ", about["stage"], " ", hash, " ", options.block_size), options.data,
                [&](const std::string& data) -> Json {
                    try {
                        refuse_pipe(data);
                        return unseen_texts(options, task_of(about["stage"]), hash);
                    } catch (const Error&) {  // the text is not at hand
                        return Json::array();
                    }
                });
}

}  // namespace babygpt::workshop
