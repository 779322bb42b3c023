// The rooms of common/ and data/: every include points to a room that common/README.md lets its own room know.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(const fs::path& file) {
    std::ifstream in(file);
    REQUIRE_MESSAGE(in, file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::set<std::string> words(const std::string& text) {
    const std::regex word("\\w+");
    std::set<std::string> all;
    for (std::sregex_iterator found(text.begin(), text.end(), word), end; found != end; ++found)
        all.insert(found->str());
    return all;
}

// "common/nn/optim.h" is in the room nn, "data/grammar.h" in data; other paths are in the room of their first folder.
std::string room_of(const std::string& path) {
    std::smatch parts;
    const std::regex in_common("common/(\\w+)/.*"), folder("(\\w+)/.*");
    if (std::regex_match(path, parts, in_common) || std::regex_match(path, parts, folder)) return parts[1];
    return path;
}

// What each room may know, as the table says.
std::map<std::string, std::set<std::string>> table_of_rooms() {
    const std::regex row("\\| `(\\w+)` \\|[^|]+\\|([^|]*)\\|");
    std::map<std::string, std::set<std::string>> rooms;
    for (const std::string& line : lines_of("common/README.md")) {
        std::smatch parts;
        if (!std::regex_match(line, parts, row)) continue;
        std::set<std::string> known = words(parts[2]);
        for (const std::string& room : known) CHECK_MESSAGE(rooms.count(room), parts[1], " stands above ", room);
        rooms[parts[1]] = known;
    }
    return rooms;
}

// Calls f with every file of a room.
void for_sources(const std::function<void(const std::string& file)>& f) {
    for (const char* top : {"common", "data"})
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
            std::string file = entry.path().string();
            bool source = file.ends_with(".cpp") || file.ends_with(".h");
            if (source && file != "common/babygpt.h") f(file);  // that one is for stages
        }
}

}  // namespace

TEST_SUITE("rooms") {
    TEST_CASE("rooms: the table names every directory of common/, and each knows only those above it") {
        auto rooms = table_of_rooms();
        for (const fs::directory_entry& entry : fs::directory_iterator("common"))
            if (entry.is_directory())
                CHECK_MESSAGE(rooms.count(entry.path().filename()), entry.path(), " is not in common/README.md");
        CHECK(rooms.at("base").empty());
    }

    TEST_CASE("rooms: common/README.md names every file, in the row of its room") {
        const std::regex row("\\| `(\\w+)/` \\|([^|]*)\\|"), name("`(\\w+)`");
        std::map<std::string, std::set<std::string>> told, there;
        for (const std::string& line : lines_of("common/README.md"))
            if (std::smatch parts; std::regex_match(line, parts, row))
                for (std::sregex_iterator found(line.begin(), line.end(), name), end; found != end; ++found)
                    told[parts[1]].insert((*found)[1]);
        for_sources([&](const std::string& file) {
            std::string stem = fs::path(file).stem();
            there[room_of(file)].insert(stem);
            CHECK_MESSAGE(told[room_of(file)].count(stem), file, " is not in common/README.md");
        });
        for (const auto& [room, files] : told)
            for (const std::string& file : files)
                CHECK_MESSAGE(there[room].count(file), "common/README.md names ", room, "/", file,
                              ", which is not there");
    }

    TEST_CASE("rooms: no include points to a room that its own does not know") {
        auto rooms = table_of_rooms();
        const std::regex include(R"(\s*#\s*include\s*(["<])([^">]+)[">].*)");
        size_t includes = 0;
        for_sources([&](const std::string& file) {
            if (file == "data/corpus.cpp") return;  // a program
            std::string room = room_of(file);
            for (const std::string& line : lines_of(file)) {
                std::smatch parts;
                if (!std::regex_match(line, parts, include)) continue;
                std::string path = fs::path(parts[2].str()).lexically_normal(), other = room_of(path);
                if (parts[1] == "<" && !fs::exists(path)) continue;  // of the system
                CHECK_MESSAGE((other == room || rooms[room].count(other)), file, " includes ", path);
                ++includes;
            }
        });
        CHECK(includes > 50);
    }
}
