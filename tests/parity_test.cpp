// every stage that trains against what PyTorch computes, from fixtures that tests/parity/make_fixtures.py wrote; and
// docs/checkpoint.md against what checkpoints are.
#include <cstring>
#include <nlohmann/json.hpp>
#include <regex>

#include "common/base/files.h"
#include "common/text/utf8.h"
#include "tests/check.h"
#include "tests/parity/compute.h"

namespace {

using Json = nlohmann::json;

struct Fixture {
    Options options;
    Vocabulary vocabulary;
    Json batches;
    Checkpoint weights;
    Answer expected;
};

// Fixtures are in float, and the tests in double too, so they are read here and not by from_safetensors.
Fixture load_fixture(const std::string& stage) {
    std::string bytes = read_file("tests/parity/fixtures/" + stage + ".safetensors");
    uint64_t length;
    std::memcpy(&length, bytes.data(), 8);
    Json header = Json::parse(bytes.substr(8, length)), about = header["__metadata__"];
    auto json = [&](const char* key) { return Json::parse(about[key].get<std::string>()); };
    Fixture fixture{options_from_json(about["options"].get<std::string>(), stage, {.threads = 2}),
                    Vocabulary(decode_utf8(about["vocabulary"].get<std::string>(), stage)),
                    json("batches"),
                    {},
                    {{}, json("losses")}};
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__") continue;
        Tensor tensor = Tensor::zeros(entry["shape"].get<Shape>());
        const char* data = bytes.data() + 8 + length + entry["data_offsets"][0].get<size_t>();
        for (size_t i = 0; i < tensor.count(); ++i) {
            float number;
            std::memcpy(&number, data + 4 * i, 4);
            tensor.values()[i] = number;
        }
        bool weight = name.starts_with("weight.");
        (weight ? fixture.weights.tensors : fixture.expected.tensors)
            .push_back({weight ? name.substr(7) : name, tensor});
    }
    return fixture;
}

std::string between(const std::string& text, const std::string& start, const std::string& end) {
    size_t from = text.find(start);
    REQUIRE_MESSAGE(from != text.npos, "there is no ", start);
    from += start.size();
    return text.substr(from, text.find(end, from) - from);
}

TEST_CASE("every stage computes the logits, loss, gradients and first losses that PyTorch does") {
    std::vector<std::string> names;
    for (const auto& [stage, make_model] : stages) names.push_back(stage);
    for (const auto& [stage, make_model] : bert_stages) names.push_back(stage);
    for (const auto& [stage, make_model] : translator_stages) names.push_back(stage);
    for (const std::string& stage : names) {
        CAPTURE(stage);
        Fixture fixture = load_fixture(stage);
        Answer ours = compute(fixture.options, fixture.vocabulary, fixture.weights, fixture.batches);
        CHECK(ours.tensors.size() == fixture.expected.tensors.size());
        for (const auto& [name, expected] : fixture.expected.tensors) {
            CAPTURE(name);
            auto same_name = [&](const Module::Parameter& tensor) { return tensor.name == name; };
            auto found = std::find_if(ours.tensors.begin(), ours.tensors.end(), same_name);
            REQUIRE(found != ours.tensors.end());
            CHECK(to_string(found->tensor.shape()) == to_string(expected.shape()));
            // A key's bias adds the same to all scores of a query: its gradient is but rounding, and has no size.
            double least = name.ends_with("key.bias") ? 1e-3 : 1e-300;
            CHECK(difference(found->tensor.values(), expected.values(), least) < (in_double ? 1e-7 : 5e-5));
        }
        REQUIRE(ours.losses.size() == fixture.expected.losses.size());
        for (size_t step = 0; step < ours.losses.size(); ++step) {
            CAPTURE(step);
            CHECK(std::abs(ours.losses[step] - fixture.expected.losses[step]) < (in_double ? 1e-12 : 1e-4));
        }
    }
}

TEST_CASE("docs/checkpoint.md: the table holds every stage's tensors, their shapes and no others") {
    std::string text = read_file("docs/checkpoint.md");
    const std::map<std::string, int> letters{{"V", 11}, {"T", 7},     {"C", 6}, {"4C", 24},
                                             {"H", 3},  {"2T-1", 13}, {"2", 2}};
    const std::regex line(R"(\n\| `([a-zA-Z_.0-9]+)` \| \(([^)]*)\) \| ([0-9to, ]+) \|)"), number(R"(\.\d+)"),
        range(R"((\d+)(?: to (\d+))?)");
    std::map<int, std::map<std::string, Shape>> described, real_ones;
    for (std::sregex_iterator row(text.begin(), text.end(), line), end; row != end; ++row) {
        std::istringstream sizes((*row)[2]);
        Shape shape;
        for (std::string size; sizes >> size;) shape.push_back(letters.at(size.substr(0, size.find(','))));
        std::string cell = (*row)[3];
        for (std::sregex_iterator part(cell.begin(), cell.end(), range); part != end; ++part) {
            int first = std::stoi((*part)[1]), last = (*part)[2].matched ? std::stoi((*part)[2]) : first;
            for (int stage = first; stage <= last; ++stage) described[stage][(*row)[1]] = shape;
        }
    }
    Rng rng(1);
    Options options{.block_size = 7, .n_embd = 6, .n_head = 2, .n_layer = 2, .positions = "relative_key"};
    auto take = [&](const std::string& stage, const Module& model) {
        for (const auto& [name, tensor] : model.parameters)
            real_ones[std::stoi(stage)][std::regex_replace(name, number, ".N")] = tensor.shape();
    };
    for (const auto& [stage, make_model] : stages) take(stage, *make_model(options, 11, rng));
    for (const auto& [stage, make_model] : bert_stages) take(stage, *make_model(bert_config(options, 11), rng));
    CHECK(described.size() == real_ones.size());
    for (const auto& [stage, names] : real_ones) {
        CAPTURE(stage);
        for (const auto& [name, shape] : names) {
            CAPTURE(name);
            CHECK(to_string(described[stage][name]) == to_string(shape));
        }
        CHECK(described[stage].size() == names.size());
    }
}

TEST_CASE("docs/checkpoint.md: the code for PyTorch is the code that is tested") {
    std::string code = between(read_file("tests/parity/safetensors.py"), "#> load\n", "#< load");
    CHECK(between(read_file("docs/checkpoint.md"), "safetensors.py)):\n\n```python\n", "```") == code);
}

TEST_CASE("docs/checkpoint.md: the bytes are those of the file" * doctest::skip(in_double)) {
    std::string line = "to be or not to be\n", text;
    for (int i = 0; i < 20; ++i) text += line;
    Corpus corpus = make_corpus("tiny.txt", text);
    Options options{.stage = "02_position", .data = "tiny.txt", .block_size = 6, .n_embd = 4, .steps = 0, .threads = 1};
    Rng rng(options.seed, "initialisation");
    auto model = stages.at(options.stage)(options, corpus.vocabulary.size(), rng);
    std::string bytes = to_safetensors(describe_model(options, corpus, *model, 0, 2.290590, 2.304073));
    std::string page = read_file("docs/checkpoint.md");
    const std::regex line_of_dump(R"(\n([0-9a-f]{8}): ([0-9a-f ]{39})  )");
    int lines = 0;
    for (std::sregex_iterator found(page.begin(), page.end(), line_of_dump), end; found != end; ++found, ++lines) {
        size_t offset = std::stoul((*found)[1], nullptr, 16);
        std::string hex;
        for (size_t i = 0; i < 16; ++i) {
            char two[8];
            std::snprintf(two, sizeof two, "%s%02x", i && i % 2 == 0 ? " " : "", (unsigned char)(bytes.at(offset + i)));
            hex += two;
        }
        CHECK_MESSAGE((*found)[2] == hex, "at ", (*found)[1].str(), " the file now has ", hex);
    }
    CHECK(lines == 7);
}

}  // namespace
