#include "common/train/checkpoint.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "common/base/files.h"
#include "common/base/format.h"
#include "common/train/ranks.h"

namespace babygpt {

namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

const char* const dtype = sizeof(real) == 4 ? "F32" : "F64";
constexpr size_t longest_header = 100'000'000, deepest = 4;

// Parses a header, refusing what the JSON library would let pass: one key twice, and nesting without end.
Json parse_header(std::string_view text, const std::string& name) {
    std::vector<std::set<std::string>> keys(deepest + 2);
    auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (size_t(depth) > deepest) fail(name, " is damaged: its header is nested too deeply");
        if (event == Json::parse_event_t::object_start) keys[size_t(depth) + 1].clear();
        if (event == Json::parse_event_t::key && !keys[size_t(depth)].insert(parsed.get<std::string>()).second)
            fail(name, " is damaged: its header names ", brief(parsed.get<std::string>()), " twice");
        return true;
    };
    Json header = Json::parse(text, watch, false);
    if (!header.is_object()) fail(name, " is damaged: its header is not a JSON object");
    return header;
}

// Half precision: 5 bits of exponent and 10 of fraction.
struct Half {
    uint16_t bits;
    operator float() const {
        uint32_t magnitude = uint32_t(bits & 0x7FFF) << 13;         // the fraction where a float has it
        float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;  // a float's exponent is counted from another place
        if (scaled >= 0x1p16f) scaled = std::bit_cast<float>(magnitude | 0x7F800000);  // infinity, or not a number
        return bits & 0x8000 ? -scaled : scaled;
    }
};
// The first half of a float.
struct BFloat16 {
    uint16_t bits;
    operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

// Fills a tensor from bytes, which need not be aligned.
template <class Number>
void read(const char* from, std::span<real> to) {
    if constexpr (std::is_same_v<Number, real>) {
        std::memcpy(to.data(), from, to.size_bytes());
    } else {
        for (size_t i = 0; i < to.size(); ++i) {
            Number number;
            std::memcpy(&number, from + i * sizeof number, sizeof number);
            to[i] = real(number);
        }
    }
}

struct Type {
    std::string_view name;
    size_t bytes;
    void (*read)(const char* from, std::span<real> to) = nullptr;  // integers are left out
};
constexpr Type types_of_numbers[] = {{"F32", 4, read<float>},
                                     {"F64", 8, read<double>},
                                     {"F16", 2, read<Half>},
                                     {"BF16", 2, read<BFloat16>},
                                     {"I64", 8},
                                     {"I32", 4},
                                     {"I16", 2},
                                     {"I8", 1},
                                     {"U64", 8},
                                     {"U32", 4},
                                     {"U16", 2},
                                     {"U8", 1},
                                     {"BOOL", 1}};

const Type* find_type(const Json& entry, const std::string& tensor, const std::string& name, Types types) {
    const Json given = entry.value("dtype", Json());
    for (const Type& type : types_of_numbers)
        if (given == type.name && (types == Types::any || given == dtype)) return &type;
    fail(name, ": ", tensor, " is of type ", brief(given.dump()), ", not ",
         types == Types::any ? "F32, F64, F16 or BF16" : dtype);
}

struct Entry {
    std::string name;
    const Type* type;
    Shape shape;
    size_t begin, end;
};

Entry parse_entry(const std::string& key, const Json& json, const std::string& name, Types types) {
    const std::string tensor = brief(key);
    auto is_count = [](const Json& v) { return v.is_number_unsigned() && v.get<uint64_t>() <= INT32_MAX; };
    auto list = [&](const char* what) {
        bool good = json.is_object() && json.contains(what) && json[what].is_array() && json[what].size() <= 8;
        if (!good) fail(name, " is damaged: ", tensor, " has no ", what);
        return json[what];
    };
    Json shape = list("shape"), offsets = list("data_offsets");
    Entry entry{key, find_type(json, tensor, name, types), {}, 0, 0};
    size_t bytes = entry.type->bytes;
    for (const Json& size : shape) {
        if (!is_count(size) || size == 0 || bytes > SIZE_MAX / size.get<size_t>())
            fail(name, " is damaged: ", tensor, " has the shape ", brief(shape.dump()));
        entry.shape.push_back(size.get<int>());
        bytes *= size.get<size_t>();
    }
    if (offsets.size() != 2 || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
        fail(name, " is damaged: ", tensor, " has the data_offsets ", brief(offsets.dump()));
    entry.begin = offsets[0].get<size_t>(), entry.end = offsets[1].get<size_t>();
    if (entry.end < entry.begin || entry.end - entry.begin != bytes)
        fail(name, " is damaged: ", tensor, " of shape ", brief(shape.dump()), " has the data_offsets ",
             brief(offsets.dump()));
    return entry;
}

}  // namespace

std::string to_safetensors(const Checkpoint& checkpoint) {
    Json header = {{"__metadata__", checkpoint.metadata}};
    size_t offset = 0;
    for (const auto& [name, tensor] : checkpoint.tensors) {
        size_t end = offset + tensor.count() * sizeof(real);
        header[name] = {{"dtype", dtype}, {"shape", tensor.shape()}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);  // a file's name may be no UTF-8
    text.append(63 - (text.size() + 8 + 63) % 64, ' ');  // so that the numbers begin at a multiple of 64
    uint64_t length = text.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    bytes.reserve(8 + length + offset);
    bytes += text;
    for (const auto& [name, tensor] : checkpoint.tensors)
        bytes.append(reinterpret_cast<const char*>(tensor.values().data()), tensor.count() * sizeof(real));
    return bytes;
}

namespace {

struct Safetensors {
    Json header;
    std::string_view data;
};

Safetensors split(std::string_view bytes, const std::string& name) {
    if (bytes.size() < 8) fail(name, " is damaged: ", bytes.size(), " bytes are too few for a checkpoint");
    uint64_t length;
    std::memcpy(&length, bytes.data(), 8);
    if (length > longest_header || length > bytes.size() - 8)
        fail(name, " is damaged or no checkpoint: its header is said to be ", length, " bytes long, the file has ",
             bytes.size());
    return {parse_header(bytes.substr(8, length), name), bytes.substr(8 + length)};
}

}  // namespace

Checkpoint from_safetensors(std::string_view bytes, const std::string& name, Types types) {
    auto [header, data] = split(bytes, name);
    Checkpoint checkpoint;
    std::vector<Entry> entries;
    for (const auto& [key, value] : header.items()) {
        if (key != "__metadata__") {
            entries.push_back(parse_entry(key, value, name, types));
            continue;
        }
        if (!value.is_object()) fail(name, " is damaged: its metadata is not a JSON object");
        for (const auto& [what, text] : value.items()) {
            if (!text.is_string()) fail(name, " is damaged: its metadata's ", brief(what), " is not a string");
            checkpoint.metadata[what] = text.get<std::string>();
        }
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
    size_t offset = 0;
    for (const Entry& entry : entries) {
        if (entry.begin != offset || entry.end > data.size())
            fail(name, " is damaged: ", brief(entry.name), " at bytes ", entry.begin, " to ", entry.end,
                 entry.begin != offset ? " leaves a gap or overlaps another tensor" : " is beyond the file's end");
        offset = entry.end;
        if (!entry.type->read) continue;
        Tensor tensor = Tensor::empty(entry.shape);
        entry.type->read(data.data() + entry.begin, tensor.values());
        checkpoint.tensors.push_back({entry.name, tensor});
    }
    if (offset != data.size())
        fail(name, " is damaged: ", data.size() - offset, " bytes at its end belong to no tensor");
    return checkpoint;
}

namespace {

// The bytes of a file as the first rank sees it: it wrote it, and other machines may not see it, or not yet.
class FileOfFirst {
  public:
    explicit FileOfFirst(const std::string& path) {
        if (ranks::first()) mapped.emplace(path);
        if (ranks::count() > 1) received = ranks::broadcast(mapped ? mapped->bytes() : "");
    }
    std::string_view bytes() const { return mapped ? mapped->bytes() : received; }

  private:
    std::optional<MappedFile> mapped;
    std::string received;
};

}  // namespace

Checkpoint load_safetensors(const std::string& file, Types types) {
    return from_safetensors(FileOfFirst(file).bytes(), file, types);
}

std::map<std::string, std::string> metadata_of(std::string_view bytes, const std::string& name) {
    std::map<std::string, std::string> metadata;
    Json given = split(bytes, name).header.value("__metadata__", Json());
    for (const auto& [key, value] : given.items())
        if (value.is_string()) metadata[key] = value.get<std::string>();
    return metadata;
}

std::map<std::string, std::string> load_metadata(const std::string& file) {
    return metadata_of(FileOfFirst(file).bytes(), file);
}

const std::string& Checkpoint::about(const std::string& key, const std::string& file) const {
    auto found = metadata.find(key);
    if (found == metadata.end()) fail(file, " is not a checkpoint of this course: its metadata has no ", key);
    return found->second;
}

void restore(std::vector<Module::Parameter>& parameters, const Checkpoint& checkpoint, const std::string& prefix,
             const std::string& file) {
    std::map<std::string, Tensor> saved;
    for (const auto& [name, tensor] : checkpoint.tensors)
        if (name.starts_with(prefix)) saved[name] = tensor;
    for (auto& [name, tensor] : parameters) {
        auto found = saved.find(prefix + name);
        if (found == saved.end())
            fail(file, " has no tensor ", prefix + name, ": it was saved by another version of the model");
        if (found->second.shape() != tensor.shape())
            fail(file, ": ", prefix + name, " is ", to_string(found->second.shape()), ", the model's is ",
                 to_string(tensor.shape()));
        std::copy_n(found->second.values().begin(), tensor.count(), tensor.values().begin());
        saved.erase(found);
    }
    if (!saved.empty())
        fail(file, " has a tensor ", brief(saved.begin()->first), " that a model of its options has no place for");
}

}  // namespace babygpt
