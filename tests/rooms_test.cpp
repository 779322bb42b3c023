// The rooms of common/ and data/: every include points to a room that common/README.md lets its own room know.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
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

}  // namespace

TEST_SUITE("rooms") {
    TEST_CASE("rooms: the table names every directory of common/, and each knows only those above it") {
        auto rooms = table_of_rooms();
        for (const fs::directory_entry& entry : fs::directory_iterator("common"))
            if (entry.is_directory())
                CHECK_MESSAGE(rooms.count(entry.path().filename()), entry.path(), " is not in common/README.md");
        CHECK(rooms.at("base").empty());
    }

    TEST_CASE("rooms: no include points to a room that its own does not know") {
        auto rooms = table_of_rooms();
        const std::regex include("#include \"([^\"]+)\".*");
        size_t includes = 0;
        for (const char* top : {"common", "data"})
            for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
                std::string file = entry.path().string();
                if (!file.ends_with(".cpp") && !file.ends_with(".h")) continue;
                if (file == "common/babygpt.h" || file == "data/corpus.cpp") continue;  // for stages; a program
                std::string room = room_of(file);
                for (const std::string& line : lines_of(file)) {
                    std::smatch parts;
                    if (!std::regex_match(line, parts, include)) continue;
                    std::string other = room_of(parts[1]);
                    CHECK_MESSAGE((other == room || rooms[room].count(other)), file, " includes ", parts[1].str());
                    ++includes;
                }
            }
        CHECK(includes > 50);
    }
}
