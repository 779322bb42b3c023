#include "common/app/guarded.h"

#include <cstdio>
#include <new>

#include "common/base/error.h"
#include "common/base/files.h"

namespace babygpt {

int guarded(const std::string& name, const std::function<void()>& f) {
    try {
        f();
        flush_output();
        return 0;
    } catch (const Error& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        return 2;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "%s: not enough memory; choose smaller sizes\n", name.c_str());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        return 1;
    }
}

}  // namespace babygpt
