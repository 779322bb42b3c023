// Whatever bytes a checkpoint holds: it loads and writes, or it is refused with an Error. Nothing else may happen.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/babygpt.h"

#define main stage_main
namespace gpt {
#include "stages/11_kvcache.cpp"
}
#undef main

using namespace babygpt;

template <class F>
void works_or_is_refused(F f) {
    try {
        f();
    } catch (const Error&) {
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const Options stage{.stage = "10_gpt", .n_embd = 1, .n_head = 1, .n_layer = 1};
    works_or_is_refused([&] {
        SavedModel saved = parse_model({reinterpret_cast<const char*>(data), size}, "input", stage);
        Rng rng(0);
        gpt::Model model(saved.options, saved.vocabulary.size(), rng);
        restore(model.parameters, saved.checkpoint, "", "input");
        Options o = saved.options;
        o.tokens = 6;  // the block of the sound one is 4, so the window slides
        works_or_is_refused([&] { write_text(next_logits(model, o.block_size), saved.vocabulary, o); });
        works_or_is_refused([&] { write_text(cached_writer<gpt::Cache>(model, o.block_size), saved.vocabulary, o); });
        works_or_is_refused(
            [&] { write_text(cached_writer<KeyValueCache>(model, o.block_size), saved.vocabulary, o); });
    });
    return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

// Every second time a number of the options becomes another one, which bytes changed at random seldom do.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
    using nlohmann::json;
    if (seed % 2) return LLVMFuzzerMutate(data, size, most);
    try {
        const std::string bytes(reinterpret_cast<char*>(data), size);
        uint64_t length = 0;
        std::memcpy(&length, bytes.data(), std::min<size_t>(size, 8));
        json header = json::parse(bytes.substr(8, length)), &text = header.at("__metadata__").at("options"),
             options = json::parse(text.get<std::string>());
        std::vector<std::string> numbers;
        for (const auto& [name, value] : options.items())
            if (value.is_number()) numbers.push_back(name);
        if (numbers.empty()) return LLVMFuzzerMutate(data, size, most);
        Rng rng(seed);
        json& number = options[numbers[rng.below(numbers.size())]];
        const double old = std::clamp(number.get<double>(), -1e9, 1e9);
        const json others[] = {0,
                               1,
                               -1,
                               0.5,
                               1e300,
                               INT32_MAX,
                               int64_t{1} << 32,
                               UINT64_MAX,
                               int64_t(old) + 1,
                               int64_t(old) - 1,
                               int64_t(old) * 2,
                               rng.below(100)};
        number = others[rng.below(std::size(others))];
        text = options.dump();
        const std::string changed = header.dump() + bytes.substr(8 + length);
        if (8 + changed.size() > most) return size;
        length = header.dump().size();
        std::memcpy(data, &length, 8);
        std::memcpy(data + 8, changed.data(), changed.size());
        return 8 + changed.size();
    } catch (const std::exception&) {  // it has no options any more
        return LLVMFuzzerMutate(data, size, most);
    }
}
