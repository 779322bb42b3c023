#include "common/train/agreement.h"

#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/text/corpus.h"
#include "common/train/ranks.h"

namespace babygpt {

namespace {

using Values = nlohmann::ordered_json;

std::string as_text(const Options& options) {
    Values values;
    for (const Option& option : option_table())
        std::visit([&](auto field) { values[option.flag()] = options.*field; }, option.field);
    return values.dump(-1, ' ', false, Values::error_handler_t::replace);  // a path may be no UTF-8
}

std::string hash_of_values(const Module& model) {
    uint64_t hash = 0;
    for (const auto& [name, tensor] : model.parameters) {
        std::span<const std::byte> bytes = std::as_bytes(tensor.values());
        hash ^= hash_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) + hash * 31;
    }
    return std::to_string(hash);
}

}  // namespace

void agree_on_program(const Options& options) {
    if (ranks::count() == 1) return;
    if (auto found = ranks::difference(std::to_string(hash_of(read_file("/proc/self/exe")))))
        fail("rank ", found->rank, " runs another ", options.stage,
             " than rank 0: their files differ; build once, and copy it to every machine");
    auto found = ranks::difference(as_text(options));
    if (!found) return;
    Values first = Values::parse(found->first), other = Values::parse(found->other);
    for (const auto& [flag, value] : other.items())
        if (value != first[flag])
            fail("the ranks disagree: ", flag, " is ", first[flag].dump(), " on rank 0 and ", value.dump(), " on rank ",
                 found->rank);
}

void agree_on_text(const Options& options, const std::string& hash) {
    if (auto found = ranks::difference(hash))
        fail("the ranks disagree: the text ", options.data, " is not the same on rank 0 and on rank ", found->rank);
}

void agree_on_weights(const Module& model, int step) {
    if (ranks::count() == 1) return;
    if (auto found = ranks::difference(hash_of_values(model)))
        fail("at step ", step, " the weights of rank ", found->rank, " are no longer those of rank 0: a machine or ",
             "the network makes mistakes; --resume goes on from the last saving");
}

}  // namespace babygpt
