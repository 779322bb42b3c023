// What a BERT can be asked, of a model whose every score is given by hand.
#include "common/write/fill.h"

#include "common/text/wordpiece.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

const CharacterTokenizer letters(Vocabulary(U"abcdef"));

// At each place, this much for a to f. It is sure of the last blank, and changes its mind about others once that is d.
struct ByHand : PreTrainingModel {
    bool damaged = false;
    BertForPreTrainingOutput operator()(const BertInput& input) const override {
        const std::vector<int>& ids = input.input_ids->ids;
        size_t V = size_t(letters.size()), last = ids.size() - 2;
        Tensor logits = Tensor::zeros({1, int(ids.size()), int(V)});
        for (size_t place = 0; place < ids.size(); ++place) {
            std::vector<real> scores{3, 2, 1, 0, -1, -2};
            if (place == last) scores = {1, 3, 4, 5, 2, 0};
            if (place != last && letters.tokens[size_t(ids[last])] == "d") scores = {-2, -1, 0, 1, 3, 2};
            std::span<real> of_place = logits.values().subspan(place * V, V);
            std::ranges::fill(of_place, 6);  // special tokens, the likeliest of all
            std::ranges::copy(scores, of_place.begin() + letters.mask + 1);
        }
        Tensor seq_relationship_logits = Tensor::zeros({1, 2});
        if (damaged) logits.values()[2 * V - 1] = seq_relationship_logits.values()[1] = real(NAN);
        return {logits, seq_relationship_logits};
    }
};

std::string in_order(const Blank& blank) {
    std::string tokens;
    for (const Guess& guess : blank.guesses) tokens += guess.token;
    return tokens;
}

}  // namespace

TEST_SUITE("fill") {
    TEST_CASE("fill: the surest blank first, five guesses in falling order, and later guesses see earlier ones") {
        ByHand model;
        Filled filled = fill_blanks({model, letters, 16}, {"f_e_"});
        REQUIRE(filled.blanks.size() == 2);
        CHECK(filled.blanks[0].number == 2);
        CHECK(in_order(filled.blanks[0]) == "dcbea");
        CHECK(filled.blanks[1].number == 1);
        CHECK(in_order(filled.blanks[1]) == "efdcb");
        for (const Blank& blank : filled.blanks)
            CHECK(std::ranges::is_sorted(blank.guesses, std::greater(), &Guess::probability));
        CHECK(filled.texts == std::vector<std::string>{"feed"});
        CHECK(std::ranges::count(filled.input.input_ids->ids, letters.mask) == 2);  // as the first guess saw it
    }

    TEST_CASE("fill, follows: what is wrong with a text is told by the place in all of it, and by which of two it is") {
        ByHand model;
        const Reader reader{model, letters, 16};
        check_error([&] { fill_blanks(reader, {"a_b_c-"}); }, {"the text has", "'-' (U+002D) at position 6"});
        check_error([&] { fill_blanks(reader, {"a_", "_b-"}); }, {"the second text has", "'-' (U+002D) at position 3"});
        check_error([&] { fill_blanks(reader, {"a_\xFF"}); }, {"the text is not UTF-8", "0xFF", "offset 2"});
        check_error([&] { fill_blanks(reader, {"", "_"}); }, {"the first text is empty"});
        check_error([&] { second_follows(reader, "a", "b-"); }, {"the second text has", "'-' (U+002D) at position 2"});
        check_error([&] { second_follows(reader, "a", ""); }, {"the second text is empty"});
        check_error([&] { fill_blanks(reader, {"abc"}); }, {"there is no blank"});
    }

    TEST_CASE("fill: of pieces of words, a blank is a token, and [MASK] is one, too") {
        WordPiece pieces({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "re", "##d", "kite", "a"}, true, "vocab.txt");
        for (const char* text : {"a re_ kite", "a re[MASK] kite"})
            CHECK(pieces.encode_blanks(text, "text") == std::vector<int>{8, 5, 4, 7});
        check_error([&] { pieces.encode_blanks("a __ \xFF", "text"); }, {"not UTF-8", "0xFF", "offset 5"});
    }

    TEST_CASE("fill, follows: scores that are no numbers are no answer") {
        ByHand model;
        model.damaged = true;
        const Reader reader{model, letters, 16};
        for (const auto& ask : std::vector<std::function<void()>>{[&] { fill_blanks(reader, {"_a"}); },
                                                                  [&] { second_follows(reader, "a", "b"); }})
            check_error(ask, {"scores are not numbers", "damaged"});
    }

    TEST_CASE("fill: a special token is never guessed, however likely") {
        ByHand model;
        Filled filled = fill_blanks({model, letters, 16}, {"_"});
        CHECK(in_order(filled.blanks[0]) == "dcbea");
        double sum = 5 * std::exp(6.0);  // of the five special ones
        for (int score = 0; score < 6; ++score) sum += std::exp(score);
        CHECK(filled.blanks[0].guesses[0].probability == doctest::Approx(std::exp(5.0) / sum));
    }
}
