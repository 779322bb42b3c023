// A team of threads that do the same job on different parts, again and again.
#pragma once
#include <barrier>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

#include "common/error.h"

namespace babygpt {

class Team {
  public:
    explicit Team(int size)
        : start(size),
          finish(size),
          errors(size_t(size)) {
        try {
            for (int worker = 1; worker < size; ++worker)
                threads.emplace_back([this, worker] {
                    for (;;) {
                        start.arrive_and_wait();  // waits by spinning briefly, then sleeping
                        if (!job) return;
                        work(worker);
                    }
                });
        } catch (const std::system_error&) {
            for (size_t missing = threads.size() + 1; missing < errors.size(); ++missing) start.arrive_and_drop();
            dismiss();
            fail("the system gives no more than ", threads.size() + 1, " threads; try a smaller --threads than ", size);
        }
    }
    ~Team() { dismiss(); }
    Team(const Team&) = delete;

    int size() const { return int(errors.size()); }

    // Runs f(worker) on every member, 0 being the caller's thread, and returns when all are done. If one threw, throws
    // that.
    void run(std::function<void(int worker)> f) {
        job = std::move(f);
        start.arrive_and_wait();
        work(0);
        std::exception_ptr first;
        for (std::exception_ptr& error : errors) {
            if (!first) first = error;
            error = nullptr;
        }
        if (first) std::rethrow_exception(first);
    }

  private:
    void dismiss() {
        job = nullptr;
        start.arrive_and_wait();
        for (std::thread& thread : threads) thread.join();
    }

    void work(int worker) {
        try {
            job(worker);
        } catch (...) {
            errors[size_t(worker)] = std::current_exception();
        }
        finish.arrive_and_wait();
    }

    std::barrier<> start, finish;
    std::function<void(int)> job;
    std::vector<std::exception_ptr> errors;
    std::vector<std::thread> threads;
};

}  // namespace babygpt
