// as shipped: fresh is {1, 2, 3}, expected {3}
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    struct Case {
        std::vector<int> read, context;
        bool clear;
        std::vector<int> fresh;
        std::string hint;
    };
    for (const Case& c :
         {Case{{1, 2}, {1, 2, 3}, false, {3}, "1 and 2 are in the cache already: only what is new is read."},
          {{1, 2}, {1, 2, 3, 4}, false, {3, 4}, "Two characters are new, up to the block size."},
          {{}, {1, 2}, false, {1, 2}, "Nothing is kept yet, so everything is new."},
          {{1, 2}, {5, 2, 3}, true, {5, 2, 3}, "This is another text: what is kept is of no use."},
          {{1, 2, 3}, {1, 2}, true, {1, 2}, "The context is shorter than what is kept: it is another text."},
          {{1, 2, 3}, {1, 2, 3}, true, {1, 2, 3}, "Nothing is new, but scores come only from reading: read it again."},
          {{}, {1, 2, 3, 4, 5, 6}, false, {3, 4, 5, 6}, "The context is longer than the block: the window is its end."},
          {{1, 2, 3, 4},
           {1, 2, 3, 4, 5},
           true,
           {2, 3, 4, 5},
           "The window has slid. 2 now stands at place 0 and was read at place 1: no kept key is right any more."},
          {{2, 3, 4}, {1, 2, 3, 4, 5}, false, {5}, "The window is {2, 3, 4, 5}, and it begins with what is kept."}}) {
        Plan found = plan(c.read, c.context, 4);
        std::string given = "block_size = 4, read = " + list(c.read) + ", context = " + list(c.context) + ": ";
        expect(found.fresh == c.fresh, given + "fresh is " + list(found.fresh) + ", expected " + list(c.fresh) + ".",
               c.hint);
        expect(found.clear == c.clear || c.read.empty(),
               given + (found.clear ? "clear is true, expected false." : "clear is false, expected true."), c.hint);
    }
    Tokens found = places({0, 3, 7}, 2);
    expect(found.B == 3 && found.T == 2,
           str("places has the shape ", to_string({found.B, found.T}), ", expected (3,2)."),
           "S sequences, T new places each.");
    std::vector<std::vector<int>> table{
        {found.ids[0], found.ids[1]}, {found.ids[2], found.ids[3]}, {found.ids[4], found.ids[5]}};
    expect_same("places of lengths {0, 3, 7}", table, std::vector<std::vector<int>>{{0, 1}, {3, 4}, {7, 8}},
                "places[s, t] = lengths[s] + t.",
                {{"All sequences start at place 0. Each goes on after what it has kept.",
                  std::vector<std::vector<int>>{{0, 1}, {0, 1}, {0, 1}}},
                 {"Both new places get the same number. The second comes one later.",
                  std::vector<std::vector<int>>{{0, 0}, {3, 3}, {7, 7}}}});
    return "It reads what is new, and everything again when the window slides.";
}
