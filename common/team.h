// A team of threads that do the same job on different parts, again and again.
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

#include "common/error.h"

namespace babygpt {

// Waits until the value is no longer `old`: a step is short, so it first looks again and again, letting others have
// the core between, and sleeps only after some 50 us.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
    for (int spin = 0; spin < 100; ++spin) {
        if (value.load(std::memory_order_acquire) != old) return;
        std::this_thread::yield();
    }
    value.wait(old, std::memory_order_acquire);
}

class Team {
  public:
    explicit Team(int size)
        : errors(size_t(size)) {
        try {
            for (int worker = 1; worker < size; ++worker)
                threads.emplace_back([this, worker] {
                    for (unsigned done = 0;; ++done) {
                        wait_while(jobs, done);
                        if (!job) return;
                        work(worker);
                        if (--working == 0) working.notify_one();
                    }
                });
        } catch (const std::system_error&) {
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
        working = int(threads.size());
        next_job();
        work(0);
        for (int left; (left = working) != 0;) wait_while(working, left);
        std::exception_ptr first;
        for (std::exception_ptr& error : errors) {
            if (!first) first = error;
            error = nullptr;
        }
        if (first) std::rethrow_exception(first);
    }

  private:
    void next_job() {
        ++jobs;
        jobs.notify_all();
    }

    void dismiss() {
        job = nullptr;
        next_job();
        for (std::thread& thread : threads) thread.join();
    }

    void work(int worker) {
        try {
            job(worker);
        } catch (...) {
            errors[size_t(worker)] = std::current_exception();
        }
    }

    std::atomic<unsigned> jobs = 0;  // how many were given out
    std::atomic<int> working = 0;    // threads that have not finished the last one
    std::function<void(int)> job;
    std::vector<std::exception_ptr> errors;
    std::vector<std::thread> threads;
};

}  // namespace babygpt
