#include "common/base/thread_pool.h"

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

thread_local Team::Member* Team::self = nullptr;

Team::Team(int size)
    : members(size_t(size)) {
    for (Member& member : members) member.team = this;
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
                    } else if (!help(members[size_t(worker)])) {
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

Team::~Team() { dismiss(); }

void Team::run(std::function<void(int)> f) {
    job = std::move(f);
    working = int(threads.size());
    ++jobs;
    tell();
    work(0);
    for (unsigned seen = news; working != 0; seen = news)
        if (!help(members[0])) wait_for(seen);
    std::exception_ptr first;
    for (Member& member : members) {
        if (!first) first = member.error;
        member.error = nullptr;
    }
    if (first) std::rethrow_exception(first);
}

void Team::work(int worker) {
    Member* before = self;
    self = &members[size_t(worker)];
    try {
        job(worker);
        settle();
    } catch (...) {
        self->error = std::current_exception();
        try {
            settle();  // an errand may write to what the caller is about to free
        } catch (...) {
        }
    }
    self = before;
}

bool Team::help(Member& helper) {
    for (Member& member : members) {
        auto offered = Member::offered;
        if (!member.state.compare_exchange_strong(offered, Member::taken)) continue;
        try {
            member.errand();
        } catch (...) {
            helper.error = std::current_exception();
        }
        member.state = Member::none;
        member.state.notify_one();
        return true;
    }
    return false;
}

void Team::wait_for(unsigned old) {
    ++idle;
    wait_while(news, old);
    --idle;
}

void Team::tell() {
    ++news;
    news.notify_all();
}

void Team::dismiss() {
    job = nullptr;
    ++jobs;
    tell();
    for (std::thread& thread : threads) thread.join();
}

bool hand_out(std::function<void()> errand) {
    Team::Member* self = Team::self;
    if (!self || self->team->idle == 0 || self->state != Team::Member::none) {
        errand();
        return false;
    }
    self->errand = std::move(errand);
    self->state = Team::Member::offered;
    self->team->tell();
    return true;
}

void settle() {
    Team::Member* self = Team::self;
    if (!self) return;
    auto offered = Team::Member::offered;
    if (self->state.compare_exchange_strong(offered, Team::Member::none)) self->errand();  // nobody came
    wait_while(self->state, Team::Member::taken);
    self->errand = nullptr;
}

}  // namespace babygpt
