#include "common/base/thread_pool.h"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "common/base/error.h"

namespace babygpt {

namespace {

void pause() {  // tells the core that this is only waiting
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

// Waits until the value is no longer `old`. What it waits for is often microseconds away, so it first looks again and
// again, then lets others have the core between, and sleeps after some 50 us.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
    for (int look = 0; look < 1100; ++look) {
        if (value.load(std::memory_order_acquire) != old) return;
        look < 1000 ? pause() : std::this_thread::yield();
    }
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

thread_local ThreadPool::Worker* ThreadPool::self = nullptr;

ThreadPool::ThreadPool(int size)
    : workers(size_t(size)) {
    for (Worker& worker : workers) worker.pool = this;
    sigset_t all, before;  // signals are for the caller's thread: its handlers know it, and nothing of the others
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::shared_ptr<void> restore(nullptr, [&](void*) { pthread_sigmask(SIG_SETMASK, &before, nullptr); });
    try {
        for (int worker = 1; worker < size; ++worker)
            threads.emplace_back([this, worker] {
                for (unsigned done = 0;;) {
                    unsigned seen = news;
                    if (jobs != done) {
                        ++done;
                        if (!job) return;
                        work(worker);
                        --working;
                        tell();
                    } else if (!help()) {
                        wait_for(seen);
                    }
                }
            });
    } catch (const std::system_error&) {
        dismiss();
        fail("the system gives no more than ", threads.size() + 1, " threads, and ", size,
             " are wanted; end other programs, or train with a smaller --threads");
    }
}

ThreadPool::~ThreadPool() { dismiss(); }

void ThreadPool::run(std::function<void(int)> f) {
    job = std::move(f);
    working = int(threads.size());
    ++jobs;
    tell();
    work(0);
    for (unsigned seen = news; working != 0; seen = news)
        if (!help()) wait_for(seen);
    std::exception_ptr first;
    for (Worker& worker : workers) {
        if (!first) first = worker.error;
        worker.error = nullptr;
    }
    if (first) std::rethrow_exception(first);
}

void ThreadPool::work(int worker) {
    Worker* before = self;
    self = &workers[size_t(worker)];
    try {
        job(worker);
    } catch (...) {
        self->error = std::current_exception();
    }
    self = before;
}

bool ThreadPool::help() {
    for (Worker& worker : workers) {
        auto offered = Worker::offered;
        if (!worker.state.compare_exchange_strong(offered, Worker::taken)) continue;
        (*worker.task)();
        ++shared;
        worker.state = Worker::none;
        worker.state.notify_one();
        return true;
    }
    return false;
}

void ThreadPool::wait_for(unsigned old) {
    ++idle;
    wait_while(news, old);
    --idle;
}

void ThreadPool::tell() {
    ++news;
    news.notify_all();
}

void ThreadPool::dismiss() {
    job = nullptr;
    ++jobs;
    tell();
    for (std::thread& thread : threads) thread.join();
}

void fork_join(const std::function<void()>& mine, const std::function<void()>& other) {
    ThreadPool::Worker* self = ThreadPool::self;
    if (!self || self->pool->idle == 0) {
        mine();
        return other();
    }
    self->task = &other;
    self->state = ThreadPool::Worker::offered;
    self->pool->tell();
    mine();
    auto offered = ThreadPool::Worker::offered;
    if (self->state.compare_exchange_strong(offered, ThreadPool::Worker::none)) return other();  // nobody came
    wait_while(self->state, ThreadPool::Worker::taken);
}

namespace {

ThreadPool one_or_two(int threads) {
    try {
        return ThreadPool(std::min(2, threads));
    } catch (const Error&) {
        return ThreadPool(1);
    }
}

}  // namespace

void with_helper(int threads, const std::function<void()>& f) {
    ThreadPool pool = one_or_two(threads);
    pool.run([&](int worker) {
        if (worker == 0) f();
    });
}

}  // namespace babygpt
