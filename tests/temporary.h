// A directory of a test's own, which is gone when the test has ended.
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace babygpt {

struct TemporaryDirectory {
    std::filesystem::path path;

    TemporaryDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "babygpt-XXXXXX").string();  // mkdtemp fills the X
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(path); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
};

}  // namespace babygpt
