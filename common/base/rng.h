// A stream of random numbers. Every use of chance (initialisation, batches, dropout, sampling, ...) has a stream of its
// own, named when it is made, so that drawing more from one never changes another.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace babygpt {

// SplitMix64: the whole state is one number, so a stream is cheap to make, to copy and to save. The standard library's
// distributions are not used: they differ between libraries. next, uniform and below give the same everywhere; normal
// does but for the last bits of the system's log and cos.
class Rng {
  public:
    explicit Rng(uint64_t seed, std::string_view stream = "", uint64_t index = 0)
        : state(seed) {
        for (unsigned char c : stream) state = mix(state ^ c);
        state = mix(state ^ mix(index + 1));
    }

    uint64_t next() { return mix(state += 0x9e3779b97f4a7c15); }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)
    uint64_t below(uint64_t n) {                                              // in 0 .. n-1, each as likely
        uint64_t limit = UINT64_MAX - UINT64_MAX % n, r;
        do r = next();
        while (r >= limit);
        return r % n;
    }
    double normal() {  // Box-Muller: mean 0, standard deviation 1
        double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    uint64_t state;

  private:
    static uint64_t mix(uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
};

}  // namespace babygpt
