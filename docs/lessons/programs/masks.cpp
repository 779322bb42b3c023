// Lesson 13: what goes into a BERT, token by token, and who sees whom under three masks.
#include <cstdio>

#include "common/babygpt.h"
#include "common/text/tokenizer.h"
#include "common/text/utf8.h"
using namespace babygpt;

void print_masks(const std::vector<Mask>& masks, int T) {  // side by side, of the second row of the batch
    for (int i = 0; i < T; ++i) {
        std::printf("      %d", i);
        for (const Mask& mask : masks) {
            std::printf("    ");
            bool by_row = mask.shape.size() == 4;  // (B, 1, 1, T): the same for every query
            size_t start = by_row ? size_t(T) : size_t(i * T);
            for (int j = 0; j < T; ++j) std::printf(" %s", mask.values[start + size_t(j)] ? "■" : "·");
        }
        std::printf("\n");
    }
}

int main() {
    return guarded("masks", [] {
        std::string a = "Ida ate.", b = "Leo too.";
        CharacterTokenizer tokenizer(Vocabulary(decode_utf8(a + b, "text")));
        std::vector<std::string> tokens{"[CLS]"}, types{"0"};
        for (int type : {0, 1}) {
            for (int id : tokenizer.encode(type ? b : a, "text")) tokens.push_back(tokenizer.tokens[size_t(id)]);
            tokens.push_back("[SEP]");
            types.resize(tokens.size(), std::to_string(type));
        }
        auto print_row = [&](const char* name, auto cell) {
            std::printf("%-22s", name);
            for (size_t i = 0; i < tokens.size(); ++i)
                std::printf(" %*s", int(std::max<size_t>(2, tokens[i].size())), cell(i).c_str());
            std::printf("\n");
        };
        print_row("word_embeddings", [&](size_t i) { return tokens[i] == " " ? "_" : tokens[i]; });
        print_row("position_embeddings", [&](size_t i) { return std::to_string(i); });
        print_row("token_type_embeddings", [&](size_t i) { return types[i]; });

        std::printf(
            "\nkey      0 1 2 3 4 5     0 1 2 3 4 5     0 1 2 3 4 5\nquery      tril            padding         "
            "none\n");
        print_masks({tril(6), padding({6, 4}, 6), !Mask{{6, 6}, std::vector<char>(36)}}, 6);
    });
}
