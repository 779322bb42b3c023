// A team of threads that do the same job on different parts, again and again, and help each other out.
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace babygpt {

class Team {
  public:
    explicit Team(int size);
    ~Team();
    Team(const Team&) = delete;

    int size() const { return int(members.size()); }

    // Runs f(worker) on every member, 0 being the caller's thread, and returns when all are done. If one threw, throws
    // that.
    void run(std::function<void(int worker)> f);

  private:
    struct Member {
        Team* team = nullptr;
        std::exception_ptr error;
        std::function<void()> errand;  // what it handed out
        enum State { none, offered, taken };
        std::atomic<State> state = none;  // of the errand
    };
    friend bool hand_out(std::function<void()> errand);
    friend void settle();

    void work(int worker);        // its part of the job
    bool help(Member& helper);    // does another member's errand, if there is one
    void wait_for(unsigned old);  // until there is news
    void tell();                  // there is news
    void dismiss();

    std::vector<Member> members;
    std::vector<std::thread> threads;
    std::function<void(int)> job;
    std::atomic<unsigned> news = 0;  // changes whenever a waiting member may have something to do
    std::atomic<unsigned> jobs = 0;  // how many were given out
    std::atomic<int> working = 0;    // threads that have not finished the last one
    std::atomic<int> idle = 0;       // members that wait
    static thread_local Member* self;
};

// A piece of the calling member's work that another may do: one that has finished its own part, if there is one and it
// is not at another errand of the caller's. Otherwise it is done at once. Returns whether it may still be under way;
// settle() returns when it is done.
bool hand_out(std::function<void()> errand);
void settle();

}  // namespace babygpt
