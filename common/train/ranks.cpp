#include "common/train/ranks.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/error.h"
#include "common/base/signals.h"

#ifdef BABYGPT_MPI
#include <mpi.h>
#include <sched.h>

#include <cstdio>

namespace babygpt::ranks {

namespace {

const MPI_Comm all = MPI_COMM_WORLD;
constexpr int farewell = 1;  // a message's tag
int own_rank = 0, rank_count = 1;
std::vector<MPI_Request> sums;

using Clock = std::chrono::steady_clock;

void check(int result) {
    if (result != MPI_SUCCESS) throw Lost();
}

// Until a request is done. MPI's own waiting would never return if a rank has died.
void wait(MPI_Request request) {
    using std::chrono::milliseconds;
    const auto patience = first() ? milliseconds(300) : milliseconds(500);  // the first one may speak for all
    std::optional<Clock::time_point> asked;
    for (int done = 0, looks = 0;; ++looks) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done) return;
        if (babygpt::interruption()) {
            if (!asked) asked = Clock::now();
            if (Clock::now() - *asked > patience) throw Lost();
        }
        if (looks < 2000)
            std::this_thread::yield();
        else  // who it waits for may need this core
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

template <class T>
void broadcast(std::span<T> numbers, int from) {
    constexpr size_t most = 1 << 28;  // MPI counts in int
    std::span<std::byte> bytes = std::as_writable_bytes(numbers);
    for (size_t i = 0; i < bytes.size(); i += most) {
        MPI_Request request;
        check(MPI_Ibcast(bytes.data() + i, int(std::min(most, bytes.size() - i)), MPI_BYTE, from, all, &request));
        wait(request);
    }
}

std::string broadcast(std::string_view mine, int from) {
    uint64_t size = mine.size();
    broadcast(std::span(&size, 1), from);
    std::string text(size, '\0');
    if (rank() == from) text = mine;
    broadcast(std::span(text.data(), size), from);
    return text;
}

int least(int number) {
    MPI_Request request;
    int result;
    check(MPI_Iallreduce(&number, &result, 1, MPI_INT, MPI_MIN, all, &request));
    wait(request);
    return result;
}

// mpirun may have bound this rank to one core, where all its threads would take turns.
void lift_binding() {
    if (!std::getenv("OMPI_MCA_orte_bound_at_launch")) return;
    cpu_set_t cores;
    for (size_t i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &cores);
    sched_setaffinity(0, sizeof cores, &cores);  // those that are there and allowed
}

}  // namespace

void begin() {
    int begun = 0;
    MPI_Initialized(&begun);
    if (!begun) {
        int provided;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    }
    std::atexit([] {
        int done = 0;
        MPI_Finalized(&done);
        if (!done) MPI_Finalize();
    });
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(all, &own_rank);
    MPI_Comm_size(all, &rank_count);
    lift_binding();
    if (!first() && !std::freopen("/dev/null", "w", stdout)) fail("cannot open /dev/null");
}

int rank() { return own_rank; }
int count() { return rank_count; }

int threads() {
    MPI_Comm machine;
    int here = 1;
    check(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    MPI_Comm_size(machine, &here);
    MPI_Comm_free(&machine);
    return least(std::max(1, int(std::thread::hardware_concurrency()) / here));
}

void end(int code) {
    if (count() > 1) MPI_Abort(all, code);
    std::exit(code);
}

void all_reduce(std::span<double> numbers) {
    MPI_Request request;
    check(MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), int(numbers.size()), MPI_DOUBLE, MPI_SUM, all, &request));
    wait(request);
}

std::string broadcast(std::string_view bytes) { return broadcast(bytes, 0); }

void all_gather(std::vector<std::string>& items) {
    for (int from = 0; from < count(); ++from) {
        nlohmann::json theirs;
        for (size_t i = size_t(from); i < items.size(); i += size_t(count())) theirs.push_back(items[i]);
        theirs = nlohmann::json::parse(broadcast(theirs.dump(), from));
        for (size_t i = 0; i < theirs.size(); ++i) items[size_t(from) + i * size_t(count())] = theirs[i];
    }
}

const char* interruption() {
    const char* mine = babygpt::interruption();
    bool nobody = least(mine ? 0 : 1);
    return nobody ? nullptr : mine ? mine : "SIGTERM";  // which mpirun sends to all, to some of them sooner
}

std::optional<Difference> difference(const std::string& mine) {
    std::string of_first = broadcast(mine);
    int other = least(mine == of_first ? count() : rank());
    if (other == count()) return {};
    return Difference{other, of_first, broadcast(mine, other)};
}

void begin_all_reduce(std::span<real> piece) {
    MPI_Datatype type = sizeof(real) == 4 ? MPI_FLOAT : MPI_DOUBLE;
    sums.emplace_back();
    check(MPI_Iallreduce(MPI_IN_PLACE, piece.data(), int(piece.size()), type, MPI_SUM, all, &sums.back()));
}

void help_all_reduces() {
    int done;
    check(MPI_Testall(int(sums.size()), sums.data(), &done, MPI_STATUSES_IGNORE));
}

void finish_all_reduces() {
    for (MPI_Request& request : sums) wait(request);
    sums.clear();
}

bool speaks() {
    static int word = 0;  // it is sent when this has returned
    if (first()) {
        MPI_Request unused;
        MPI_Isend(&word, 1, MPI_INT, 1, farewell, all, &unused);
        return true;
    }
    int came = 0;
    if (rank() == 1) MPI_Iprobe(0, farewell, all, &came, MPI_STATUS_IGNORE);
    return rank() == 1 && !came;
}

}  // namespace babygpt::ranks

#else

namespace babygpt::ranks {

void begin() {}
int rank() { return 0; }
int count() { return 1; }
int threads() { return int(std::max(1u, std::thread::hardware_concurrency())); }
void end(int code) { std::exit(code); }
void all_reduce(std::span<double>) {}
std::string broadcast(std::string_view bytes) { return std::string(bytes); }
void all_gather(std::vector<std::string>&) {}
const char* interruption() { return babygpt::interruption(); }
std::optional<Difference> difference(const std::string&) { return {}; }
void begin_all_reduce(std::span<real>) {}
void help_all_reduces() {}
void finish_all_reduces() {}
bool speaks() { return true; }

}  // namespace babygpt::ranks

#endif
