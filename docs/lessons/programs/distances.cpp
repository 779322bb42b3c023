// Lesson 12: how far each place stands from each other: a text at once, new characters after kept ones, and clipped.
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
namespace relative {
#include "stages/12_relative.cpp"
}
#undef main
using namespace babygpt;

void print(const char* title, int rows, int columns, int far) {
    Tokens index = relative::distances(rows, columns, far);
    std::printf("\n%s\n        key", title);
    for (int j = 0; j < columns; ++j) std::printf("%4d", j);
    for (int i = 0; i < rows; ++i) {
        std::printf("\nquery %4d ", columns - rows + i);
        for (int j = 0; j < columns; ++j) std::printf("%4d", index.ids[size_t(i * columns + j)] - far);
    }
    std::printf("\n");
}

int main() {
    print("six places at once", 6, 6, 5);
    print("two new places after four kept ones", 2, 6, 5);
    print("six places, and a table that goes to 2", 6, 6, 2);
}
