// Whatever bytes a checkpoint holds: it loads and writes, or it is refused with an Error. Nothing else may happen.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

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

// Every second time a number of the options becomes another number, which bytes changed at random seldom do.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
    uint64_t length = 0;
    std::string header;
    if (size >= 8) std::memcpy(&length, data, 8);
    if (size >= 8 && length <= size - 8) header.assign(reinterpret_cast<char*>(data) + 8, length);
    const size_t options = std::min(header.find("\"options\""), header.size()),
                 options_end = std::min(header.find('}', options), header.size());
    std::vector<size_t> numbers;  // where they begin
    auto is_digit = [&](size_t i) { return i < header.size() && header[i] >= '0' && header[i] <= '9'; };
    for (size_t i = options + 1; i < options_end; ++i)
        if (is_digit(i) && !is_digit(i - 1)) numbers.push_back(i);
    if (seed % 2 || numbers.empty()) return LLVMFuzzerMutate(data, size, most);
    Rng rng(seed);
    size_t begin = numbers[rng.below(numbers.size())], end = begin;
    while (is_digit(end)) ++end;
    const uint64_t old = std::strtoull(header.c_str() + begin, nullptr, 10);
    const std::string odd[] = {"0",
                               "1",
                               "-1",
                               "0.5",
                               "1e300",
                               "2147483647",
                               "2147483648",
                               "4294967296",
                               "9223372036854775808",
                               "18446744073709551615",
                               "18446744073709551616",
                               str(old + 1),
                               str(old - 1),
                               str(old * 2),
                               str(old / 2),
                               str(rng.below(100))};
    header.replace(begin, end - begin, odd[rng.below(std::size(odd))]);
    const std::string rest(reinterpret_cast<char*>(data) + 8 + length, size - 8 - length);
    if (8 + header.size() + rest.size() > most) return LLVMFuzzerMutate(data, size, most);
    length = header.size();
    std::memcpy(data, &length, 8);
    std::memcpy(data + 8, header.data(), header.size());
    std::memcpy(data + 8 + length, rest.data(), rest.size());
    return 8 + header.size() + rest.size();
}
