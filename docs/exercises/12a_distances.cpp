// Task 12a: how far apart two places are, as rows of a table.
//
// `kept` places are in the cache, `fresh` ones come after them; all kept + fresh have keys, the fresh ones ask. For
// each fresh place and each key: the distance is query place minus key place, the first of all places being 0. The
// table has 2 * max - 1 rows: row 0 is the distance -(max - 1), the last row is max - 1. A distance beyond an end takes
// the row at that end. Return the rows, (fresh, kept + fresh).
//
// Check it: make exercise N=12a
// Hint: at which place does the first of the fresh ones stand? std::clamp(x, low, high) is in <algorithm>.
#include <algorithm>
#include <vector>

std::vector<std::vector<int>> distance_rows(int kept, int fresh, int max) {
    std::vector<std::vector<int>> rows(size_t(fresh), std::vector<int>(size_t(kept + fresh)));
    // your code here
    return rows;
}
