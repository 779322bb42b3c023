// as shipped: All of y is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const size_t V = 5, C = 3;
    const std::vector<int> ids{2, 0, 2, 4, 2, 0};
    const size_t N = ids.size();
    Tensor table = random_parameter({int(V), int(C)}, 1);
    Tokens places(1, int(N), ids);
    std::vector<real> y(N * C, 0);
    const Tensor& constant = table;
    lookup(constant.values(), ids, C, y);
    const Shape shape{int(N), int(C)};
    expect_same("y", {shape, y}, {shape, embedding(table, places).values()}, "Row n of y is row ids[n] of the table.",
                {{"Row n of y is row n of the table. Which row it is, ids[n] says.",
                  {shape, [&] {
                       std::vector<real> straight(N * C, 0);
                       for (size_t i = 0; i < std::min(N, V) * C; ++i) straight[i] = constant.values()[i];
                       return straight;
                   }()}}});

    Tensor dy = random_tensor(shape, 2);
    const std::vector<real> before = random_numbers(V * C, 3);
    std::vector<real> dtable = before, expected = before, last = before, bare(V * C, 0);
    for (size_t i = 0; i < N * C; ++i) {
        size_t at = size_t(ids[i / C]) * C + i % C;
        expected[at] += dy.values()[i], bare[at] += dy.values()[i], last[at] = dy.values()[i];
    }
    lookup_pullback(std::as_const(dy).values(), ids, C, dtable);
    const Shape whole{int(V), int(C)};
    expect_same("dtable", {whole, dtable}, {whole, expected}, "Row ids[n] of dtable grows by row n of dy, for every n.",
                {{"dtable has not changed yet.", {whole, before}},
                 {"Character 2 stands at three places, and only the last of them has sent its share: add with +=.",
                  {whole, last}},
                 {"What stood in dtable before is gone: it is to be added to.", {whole, bare}}});
    return "A character that stands at three places gets three shares.";
}
