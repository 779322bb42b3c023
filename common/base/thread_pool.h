// A pool of threads that do the same job on different parts, again and again.
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace babygpt {

class ThreadPool {
  public:
    explicit ThreadPool(int size);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;

    int size() const { return int(workers.size()); }

    // Runs f(worker) on every worker, 0 being the caller's thread, until all are done. Throws what one of them threw.
    void run(std::function<void(int worker)> f);

    int tasks_shared() const { return shared; }  // how many halves of a fork_join another worker did

  private:
    struct Worker {
        ThreadPool* pool = nullptr;
        std::exception_ptr error;
        const std::function<void()>* task = nullptr;  // what it offers to the others
        enum State { none, offered, taken };
        std::atomic<State> state = none;  // of the task
    };
    friend void fork_join(const std::function<void()>& mine, const std::function<void()>& other);

    void work(int worker);        // its part of the job
    bool help();                  // does another worker's task, if one is offered
    void wait_for(unsigned old);  // until there is news
    void tell();                  // there is news
    void dismiss();

    std::vector<Worker> workers;
    std::vector<std::thread> threads;
    std::function<void(int)> job;
    std::atomic<unsigned> news = 0;  // changes whenever a waiting worker may have something to do
    std::atomic<unsigned> jobs = 0;  // how many were given out
    std::atomic<int> working = 0;    // threads that have not finished the last one
    std::atomic<int> idle = 0;       // workers that wait
    std::atomic<int> shared = 0;
    static thread_local Worker* self;
};

// Does both and returns when both are done: the second on a worker of the caller's pool that has nothing to do, if
// there is one and it comes in time. Neither may throw.
void fork_join(const std::function<void()>& mine, const std::function<void()>& other);

// Runs f beside a second thread that helps with its products, if there are more than one and the system gives it.
void with_helper(int threads, const std::function<void()>& f);

}  // namespace babygpt
