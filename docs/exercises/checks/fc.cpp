// as shipped: 10 numbers: with 3 threads the length is
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    for (size_t n : {12u, 10u, 1001u, 2u})
        for (size_t threads : {1u, 2u, 3u, 4u}) {
            std::vector<real> gradient = random_numbers(n, n);
            double squares = 0;
            for (real number : gradient) squares += double(number) * double(number);
            double found = gradient_length(gradient, threads), expected = std::sqrt(squares);
            expect(std::abs(found - expected) < 1e-6 * expected,
                   str(n, " numbers: with ", threads, " threads the length is ", found, ", expected ", expected, "."),
                   found < expected
                       ? "It is too small: somebody's numbers are missing. Write down which numbers each of the "
                         "threads takes."
                       : "It is too large: some numbers are taken twice, or numbers that are not there.");
        }
    return "With 1, 2, 3 and 4 threads the length is the same, however many numbers there are.";
}
