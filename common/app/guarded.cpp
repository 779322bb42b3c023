#include "common/app/guarded.h"

#include <chrono>
#include <cstdio>
#include <new>
#include <thread>

#include "common/base/error.h"
#include "common/base/files.h"
#include "common/base/signals.h"
#include "common/train/ranks.h"

namespace babygpt {

namespace {

constexpr std::chrono::seconds others_wait(3);

// One rank that fails ends all of them. What all fail at is said by the first, before the others have waited.
int failed(const std::string& name, const std::string& why, int code) {
    std::fflush(stdout);
    if (ranks::count() == 1) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), why.c_str());
        return code;
    }
    if (ranks::first())
        ranks::speaks();  // so that the second does not
    else
        std::this_thread::sleep_for(others_wait);
    std::fprintf(stderr, "%s, rank %d: %s\n", name.c_str(), ranks::rank(), why.c_str());
    ranks::end(code);
}

}  // namespace

int guarded(const std::string& name, const std::function<void()>& f) {
    survive_full_files();
    try {
        ranks::begin();
        f();
        flush_output();
        return 0;
    } catch (const Error& error) {
        return failed(name, error.what(), 2);
    } catch (const std::bad_alloc&) {
        return failed(name, "not enough memory; choose smaller sizes", 2);
    } catch (const ranks::Lost& lost) {
        if (*lost.what() && ranks::speaks())
            std::fprintf(stderr, "%s, rank %d: %s\n", name.c_str(), ranks::rank(), lost.what());
        if (!ranks::first()) std::this_thread::sleep_for(others_wait);  // the first one may still be saving
        ranks::end(1);
    } catch (const std::exception& error) {
        return failed(name, error.what(), 1);
    }
}

}  // namespace babygpt
