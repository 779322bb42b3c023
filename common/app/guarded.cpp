#include "common/app/guarded.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "common/base/error.h"

namespace babygpt {

int guarded(const std::string& name, const std::function<void()>& f) {
    try {
        f();
        if (std::fflush(stdout) != 0 || std::ferror(stdout))
            fail("cannot write to standard output: ", std::strerror(errno));
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
