// The trainer adds up what its workers found, whatever they were given.
#include "common/babygpt.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

const Corpus& letters() {
    static const Corpus text = make_corpus("letters", "abcabcaabbccabcbacbacbabcabcabcaacbbabcabcab");
    return text;
}

// A model with a parameter of its own for each token: rows without the token never reach it.
struct Apart : LanguageModel {
    std::vector<Embedding> tables;

    Apart(const Options&, int vocab_size, Rng& rng) {
        for (int i = 0; i < vocab_size; ++i) add(str("tables.", i), tables.emplace_back(1, vocab_size, rng));
    }

    Tensor operator()(const Tokens& ids) const override {        // (B, 1), and one token in each share
        return tables.at(size_t(ids.ids[0]))(Tokens(ids.B, 1));  // (B, 1, V)
    }
};

std::unique_ptr<LanguageModel> make(const Options& o, int vocab_size, Rng& rng) {
    return std::make_unique<Apart>(o, vocab_size, rng);
}

}  // namespace

TEST_SUITE("trainer") {
    TEST_CASE("a parameter that only some shares reach gets their gradients, and one that none reaches stays") {
        for (int pattern = 0; pattern < 27; ++pattern) {  // which of the three parameters each of three rows uses
            std::vector<int> ids{pattern % 3, pattern / 3 % 3, pattern / 9};
            CAPTURE(pattern);
            Options o{.batch_size = 3, .block_size = 1, .weight_decay = 0, .clip = 1, .threads = 3};
            Trainer trainer(o, letters(), make);
            for (auto& [name, tensor] : trainer.model().parameters) std::ranges::fill(tensor.values(), real(0));
            trainer.step({Tokens(3, 1, ids), Tokens(3, 1, {0, 1, 2})});
            for (size_t i = 0; i < 3; ++i) {
                const Tensor& table = trainer.model().parameters[i].tensor;
                CHECK(table.has_grad() == (std::ranges::count(ids, int(i)) > 0));
                for (size_t v = 0; v < 3 && table.has_grad(); ++v) {  // softmax - target, a third of it for each row
                    double expected = 0;
                    for (size_t row = 0; row < 3; ++row)
                        if (ids[row] == int(i)) expected += (1.0 / 3 - (row == v)) / 3;
                    CHECK(table.grad()[v] == doctest::Approx(expected).epsilon(1e-5));
                }
                CHECK(std::ranges::any_of(table.values(), [](real v) { return v != 0; }) == table.has_grad());
            }
        }
    }
}
