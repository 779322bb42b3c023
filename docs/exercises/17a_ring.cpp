// Task 17a: an all-reduce around a ring.
//
// There are N ranks, and numbers[r] (n) is what rank r has. In the end each rank must have the sum of all. A rank can
// only send to the next one: ring.send(r, piece) gives rank (r + 1) % N what rank r has in that piece *now*, and the
// next one calls ring.receive(r) to get it. A piece is one of N parts of the n numbers: the ones from piece.first to
// piece.last - 1, where piece = ring.piece(i).
//
// First half, N - 1 rounds: in round k rank r sends piece r - k and adds what it receives, piece r - 1 - k, to its own.
// Then rank r has the whole sum of piece r + 1. Second half, N - 1 rounds: the whole pieces go around; in round k rank
// r sends piece r + 1 - k, and what it receives, piece r - k, takes the place of its own. (All piece numbers modulo N.)
//
// In a round all ranks send before any receives: they do it at the same time.
//
// Check it: make exercise N=17a
// Hint: write a function mod(i, N) that is never negative; in C++ -1 % 4 is -1.
#include <map>
#include <span>
#include <vector>

struct Piece {
    size_t first, last;
};

// A wire from each rank to the next, that counts what goes through it.
struct Ring {
    std::vector<std::vector<double>>& numbers;
    std::map<int, std::vector<double>> wires = {};  // what rank r has sent
    std::map<int, size_t> sent = {};                // how many numbers in all
    std::map<int, int> messages = {};

    int N() const { return int(numbers.size()); }
    Piece piece(int i) const {
        size_t n = numbers[0].size(), parts = numbers.size();
        return {n * size_t(i) / parts, n * size_t(i + 1) / parts};
    }
    void send(int r, Piece p) {
        wires[r] = {numbers[size_t(r)].begin() + long(p.first), numbers[size_t(r)].begin() + long(p.last)};
        sent[r] += p.last - p.first, ++messages[r];
    }
    std::vector<double> receive(int r) const { return wires.at((r + N() - 1) % N()); }  // from the rank before r
};

void all_reduce(std::vector<std::vector<double>>& numbers, Ring& ring) {
    // your code here
}
