// The ranks of a run: copies of a program, on one machine or on many, that train one model together. mpirun starts
// them, and each takes its share of every batch. ranks.cpp alone knows of MPI; built without it, there is one rank.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/tensor/real.h"

namespace babygpt::ranks {

void begin();  // joins the others. From here on the first rank alone prints to standard output
int rank();    // of this program: 0 to count() - 1
int count();
inline bool first() { return rank() == 0; }
int threads();                    // for each rank, so that those of one machine share its cores; the same for all
[[noreturn]] void end(int code);  // of all ranks, because of this one

// The others do not answer, and mpirun has sent the signal that a rank has died; a second later it kills the rest.
struct Lost : std::runtime_error {
    Lost()
        : runtime_error("the other ranks do not answer; mpirun says why; --resume goes on from the last saving") {}
    using runtime_error::runtime_error;
};
// Who says so: the first rank, and the second if it hears nothing from the first.
bool speaks();

// Every rank calls these, in the same order. All of them throw Lost.
void all_reduce(std::span<double> numbers);        // sums, in place
std::string broadcast(std::string_view bytes);     // what the first rank gave
void all_gather(std::vector<std::string>& items);  // item i is there on rank i % count(), and then on all
const char* interruption();                        // of any of them
struct Difference {
    int rank;
    std::string first, other;  // what the first rank gave, and what that rank gave
};
std::optional<Difference> difference(const std::string& mine);  // of the first rank that gave something else

// Sums of large pieces, in place, that are on their way while this rank computes. All from the thread of begin().
void begin_all_reduce(std::span<real> piece);
void help_all_reduces();  // MPI does its part only while it is called
void finish_all_reduces();

}  // namespace babygpt::ranks
